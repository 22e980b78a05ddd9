"""Right answers of the checkpoint and of its adapter."""
