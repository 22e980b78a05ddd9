"""Hostile keys and ciphertexts for an adapter host."""
