"""Low-rank adapters from files, applied in the clear."""
