"""White space between tokens of JSON: what it costs in tokens, and what of it is forced."""
