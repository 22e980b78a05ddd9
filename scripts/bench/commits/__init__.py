"""Servers and clients of two commits beside each other."""
