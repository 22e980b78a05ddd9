"""KV caches of the sessions, and which of them are kept."""
