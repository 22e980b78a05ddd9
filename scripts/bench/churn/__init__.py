"""Hundreds of sessions that come and go."""
