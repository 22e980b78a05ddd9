"""Decoder layers that are read from disk in each pass, for models larger than memory."""
