"""How frames reach the server: WebSocket, HTTP, and what chooses and repairs between them."""
