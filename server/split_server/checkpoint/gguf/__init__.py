"""Checkpoints in GGUF files, which are made into ordinary folders once."""
