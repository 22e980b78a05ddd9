"""One-time masks: what a token costs, whether h - r is uniform, whether kill -9 reuses any."""
