"""Sessions that decode at the same time."""
