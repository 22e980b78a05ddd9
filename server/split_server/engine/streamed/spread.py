"""Which layers are read in each pass."""

from __future__ import annotations


def spread(layers: int, streamed: int) -> list[int]:
    """``streamed`` of so many layers, as far from each other as can be: while those between them
    compute, the next one is read.
    """
    return [
        number
        for number in range(layers)
        if (number + 1) * streamed // layers > number * streamed // layers
    ]
