"""Clients over bad networks, for long."""
