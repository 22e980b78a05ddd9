"""The audit's attacks and one from outside on the same rows."""
