"""Grammars that a reply must follow, token by token."""
