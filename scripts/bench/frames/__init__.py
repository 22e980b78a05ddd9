"""The bytes of frames."""
