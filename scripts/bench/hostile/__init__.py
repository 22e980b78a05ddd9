"""Hostile messages beside a chat."""
