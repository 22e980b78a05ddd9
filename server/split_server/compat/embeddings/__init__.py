"""Texts as vectors, from the model's final hidden states; no sockets."""
