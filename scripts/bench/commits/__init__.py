"""Servers of two commits beside each other."""
