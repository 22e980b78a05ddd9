"""Routes of the original protocol."""
