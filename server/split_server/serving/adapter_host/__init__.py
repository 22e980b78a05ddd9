"""Composition of an adapter host that runs by itself."""
