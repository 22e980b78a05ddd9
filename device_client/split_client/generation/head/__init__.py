"""LM heads: the top k logits of a hidden state."""
