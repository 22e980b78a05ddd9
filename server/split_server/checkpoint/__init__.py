"""A checkpoint on disk: its family, its ends, the files that a device fetches, their manifest."""
