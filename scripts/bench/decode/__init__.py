"""Decode speed over loopback."""
