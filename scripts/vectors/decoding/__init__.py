"""Vectors of the decode loop."""
