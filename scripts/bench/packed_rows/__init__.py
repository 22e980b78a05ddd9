"""Rows that travel in blocks, and rows that are kept in blocks."""
