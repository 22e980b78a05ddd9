"""Routes that answer with vectors."""
