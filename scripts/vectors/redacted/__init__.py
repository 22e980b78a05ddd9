"""What the vectors of redaction are about."""
