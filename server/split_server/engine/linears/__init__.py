"""Linear layers: prepacked, quantised, and the choice among them."""
