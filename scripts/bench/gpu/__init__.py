"""Passes on a CUDA device."""
