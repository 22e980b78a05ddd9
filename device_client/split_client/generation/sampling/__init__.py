"""Sampling: penalties, filters and one seeded draw."""
