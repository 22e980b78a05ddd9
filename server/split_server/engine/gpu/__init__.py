"""Passes on a CUDA device: attention over many sessions at once, decode passes as graphs."""
