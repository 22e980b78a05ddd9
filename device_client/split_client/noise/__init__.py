"""Noised embeddings and the ledger of what they have spent."""
