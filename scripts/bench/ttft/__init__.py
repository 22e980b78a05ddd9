"""Time to the first token of a turn."""
