"""Tokens per second with an encrypted adapter."""
