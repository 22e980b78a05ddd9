"""The client in a terminal: chat, generate, pull."""
