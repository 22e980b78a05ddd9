"""Edits inside a prompt: what they cost, and how far their replies are from exact ones."""
