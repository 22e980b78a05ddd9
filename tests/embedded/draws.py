"""Seeded generators for the tests of the corpus."""

from random import Random


def seeded(seed: int) -> Random:
    """A generator that draws the same values on every run."""
    return Random(seed)  # noqa: S311
