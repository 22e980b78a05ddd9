"""How far two runs of tokens agree."""

from __future__ import annotations

from collections.abc import Sequence


def accepted(proposed: Sequence[int], truth: Sequence[int]) -> int:
    """How many tokens of ``proposed`` come before the first that is not the ``truth``'s."""
    pairs = zip(proposed, truth, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(proposed), len(truth)))
