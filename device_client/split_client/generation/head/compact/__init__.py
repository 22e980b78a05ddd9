"""The LM head of a small device: a 4-bit plane and a shortlist."""
