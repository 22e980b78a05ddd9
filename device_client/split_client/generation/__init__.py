"""The device end of a model: embedding, LM head, sampling."""
