"""HTTP and WebSocket: split.v1, the original protocol, the weights and the health check."""
