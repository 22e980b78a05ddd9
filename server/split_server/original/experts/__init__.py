"""Adapters of the original protocol: evaluated under the server's own key, or in the clear."""
