"""Rows of a session that later ones do not see: which, and the messages about them."""
