"""A prompt that changed in the middle: what of it is kept, and where it goes."""
