"""One-time masks at the host: ranges, what it keeps of each mask, masked states."""
