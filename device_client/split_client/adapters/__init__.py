"""Adapters as the device sees them: which there are, which one a message wants, how it is used."""
