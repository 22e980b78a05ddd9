"""The price of attention with every token."""
