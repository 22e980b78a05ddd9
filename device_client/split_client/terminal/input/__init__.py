"""Lines, keys and tokens that a person types."""
