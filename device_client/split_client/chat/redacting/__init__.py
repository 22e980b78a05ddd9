"""Redaction of one chat: what the model is given has surrogates, what a person sees has none."""
