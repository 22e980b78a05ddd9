"""Shared parts of the benchmarks: checkpoints of known shapes, worker processes and reports."""
