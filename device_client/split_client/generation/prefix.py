"""How far two token sequences begin alike."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    length = min(len(left), len(right))
    if left[:length] == right[:length]:
        return length
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        # Only what is not known to be equal is compared.
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
