"""Vectors of drafts."""
