"""Noise mechanisms and their accounting: plain numbers and numpy, no files, no sockets."""
