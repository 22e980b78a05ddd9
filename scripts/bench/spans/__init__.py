"""Rows of a long session hidden: what a decoded token, and hiding itself, then take."""
