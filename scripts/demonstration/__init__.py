"""The demo: a server with the embedded model, and a chat with it, in one terminal."""
