"""Clients of every kind at once."""
