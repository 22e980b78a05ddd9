"""Tools that a model may call: their definitions, calls in replies, checks, runs and results."""
