"""Exact products of whole numbers: bytes of inputs by an int8 matrix, as a library multiplies."""
