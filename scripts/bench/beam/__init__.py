"""The audit's beams."""
