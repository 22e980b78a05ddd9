"""The decoder layers of a family as few operations, in place of Hugging Face's modules."""
