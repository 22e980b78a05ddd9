"""The server of the middle of a split model: decoder layers, KV caches, HTTP and WebSocket."""
