"""What public texts say about which token follows which: counts, smoothed, in a model's tokens."""
