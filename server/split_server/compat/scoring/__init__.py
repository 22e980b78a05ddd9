"""Log-probabilities of the tokens of a prompt."""
