"""Text and colours on a person's terminal."""
