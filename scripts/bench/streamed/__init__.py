"""Models larger than memory: what reading layers from disk in each pass costs."""
