"""Programs of others that ours are compared with, each a worker process."""
