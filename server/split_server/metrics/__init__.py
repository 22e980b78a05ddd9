"""Counts and times of what the server does, and their form for Prometheus."""
