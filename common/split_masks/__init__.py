"""One-time masks for encrypted adapters: numpy and split_he, ranges of numbers in files."""
