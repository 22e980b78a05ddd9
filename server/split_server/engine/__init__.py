"""The decoder layers and the one thread that runs their steps."""
