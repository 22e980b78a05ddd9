"""Parts of a plan that are one kernel each on a CUDA device."""
