"""Ollama's API, as requests and answers of chats and texts; no sockets."""
