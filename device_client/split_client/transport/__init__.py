"""Transports of frames to the server: WebSocket, HTTP, what chooses and repairs between them."""
