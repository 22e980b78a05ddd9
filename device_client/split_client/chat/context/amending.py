"""What stays dropped of a message that says something else."""

from __future__ import annotations

from collections.abc import Iterable

from split_client.chat.message import Range


def still_dropped(dropped: Iterable[Range], before: str, after: str) -> tuple[Range, ...]:
    """Those that lie whole in the beginning that both texts have; what is changed travels."""
    same = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    return tuple((start, stop) for start, stop in dropped if stop <= same)
