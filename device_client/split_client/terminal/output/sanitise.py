"""What makes a text harmless for a terminal, where whatever writes to one looks for it."""

from split_client.harmless import Sanitiser, one_line, sanitise

__all__ = ["Sanitiser", "one_line", "sanitise"]
