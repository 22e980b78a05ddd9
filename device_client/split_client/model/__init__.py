"""A model's ends, opened and connected to its middle."""
