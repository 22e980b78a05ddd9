"""Ownership of a server on its network: a local certificate authority, pairing codes, devices."""
