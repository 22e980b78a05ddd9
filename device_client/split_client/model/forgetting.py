"""Having a server delete what it keeps of a chat: of its open session, and of earlier ones.

What an earlier session left is found by the names of its rows, like anything that is restored: a
session that begins with it is opened, and closed so that nothing of it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import CacheLost
from split_client.generation.steps import Embed
from split_client.model.errors import NotForgotten
from split_client.transport.remote import RemoteBackend
from split_wire.documents.chunks import MOST_CHUNKS

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Forgotten:
    """``positions`` of the chat were kept; ``left`` of them still are when they are asked for
    again, because other chats go on from them.

    ``earlier``: whether what earlier sessions of the chat left was looked for.
    """

    positions: int = 0
    left: int = 0
    earlier: bool = True


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of all ``tokens``."""

    tokens: list[int]
    embed: Embed

    def __len__(self) -> int:
        return len(self.tokens)

    def part(self, start: int, stop: int) -> NDArray[np.float32]:
        return self.embed(self.tokens[start:stop])


def forget(
    backend: RemoteBackend,
    held: list[int],
    ends: Iterable[list[int]],
    embed: Embed | None,
    gone: Iterable[tuple[list[int], int]] = (),
    chunks: Callable[[list[int]], list[bytes]] | None = None,
) -> Forgotten:
    """End the session, which holds ``held``, and delete what is kept of it and of the prefixes
    ``ends``. Without ``embed`` nothing may be named, and of earlier sessions nothing is found.

    ``gone``: prefixes, each so long, that went with other sessions; ``chunks``: names of those of
    some tokens, which may be kept by what they say; None where nothing is. Raises NotForgotten and
    what opening a session raises.
    """
    found = [*gone]
    closed = backend.close(keep=False)
    if closed:
        found.append((held, len(held)))
    if embed is None:
        return Forgotten(_distinct(found), earlier=False)
    ends = _unique([held, *ends])
    others = [end for end in ends if not closed or end != held]
    if chunks is not None:
        _drop(backend, ends, chunks)
    # What a branch has of its own goes before what it shares.
    for end in sorted(others, key=len, reverse=True):
        count = _cut(backend, _Rows(end, embed))
        if count is None:
            return Forgotten(_distinct(found), earlier=False)
        if count:
            found.append((end, count))
    left = [(end, _cut(backend, _Rows(end, embed)) or 0) for end, _ in found]
    return Forgotten(_distinct(found), _distinct(left))


def _cut(backend: RemoteBackend, rows: _Rows) -> int | None:
    """How many of ``rows`` were kept before they were deleted; None: the server cannot be asked."""
    for _ in range(_TRIES):
        try:
            backend.open(rows)
            if not backend.restores:
                backend.close()
                return None
            count = backend.held(rows, 0)
        except CacheLost:
            continue
        if backend.close(keep=False):
            return count
    raise NotForgotten


def _drop(
    backend: RemoteBackend, ends: list[list[int]], chunks: Callable[[list[int]], list[bytes]]
) -> None:
    """Have the server delete the chunks of ``ends``. Raises NotForgotten."""
    # Only then it is known how their rows travel.
    backend.open()
    named = list({name for end in ends for name in chunks(end)})
    for start in range(0, len(named), MOST_CHUNKS):
        backend.open()
        if not backend.close(keep=False, chunks=b"".join(named[start : start + MOST_CHUNKS])):
            raise NotForgotten


def _unique(ends: Iterable[list[int]]) -> list[list[int]]:
    return [list(end) for end in dict.fromkeys(tuple(end) for end in ends) if end]


def _distinct(found: list[tuple[list[int], int]]) -> int:
    """How many positions these prefixes, each so long, have together."""
    total, seen = 0, list[list[int]]()
    for tokens, count in found:
        own = tokens[:count]
        total += count - max((_common(own, other) for other in seen), default=0)
        seen.append(own)
    return total


def _common(left: list[int], right: list[int]) -> int:
    pairs = zip(left, right, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
