"""Chats that are kept by name in a folder of this device, and found again by their words."""
