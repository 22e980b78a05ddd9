"""Vectors of the wire."""
