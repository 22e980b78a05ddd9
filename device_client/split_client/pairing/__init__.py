"""Pairing this device with a server: its link, its authority, our token."""
