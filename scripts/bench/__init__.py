"""What the benchmarks share: checkpoints of known shapes, worker processes and reports."""
