"""One token's cost in the KV cache."""
