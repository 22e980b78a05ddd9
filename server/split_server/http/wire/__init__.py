"""Connections: listening, limits, bodies, sockets, errors."""
