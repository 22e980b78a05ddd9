"""A chat beside the long prompt of somebody else."""
