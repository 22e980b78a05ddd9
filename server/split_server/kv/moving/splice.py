"""Rows of a session's cache that are lifted out and put down at other positions.

Whoever calls this sees to it that no step of the session runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from split_server.kv.cache import KVCache, Rows
from split_server.kv.moving.rotate import KeyRotation
from split_wire.splice import Kept


@dataclass(frozen=True, slots=True)
class Lifted:
    """A copy of the rows of ``span``, with keys as they are at its new place, by layer."""

    span: Kept
    layers: list[Rows]


def lifted_bytes(cache: KVCache, spans: Sequence[Kept]) -> int:
    """What :func:`lifted` takes."""
    rows, size = sum(span.rows for span in spans), 0
    for index in range(cache.depth if rows else 0):
        keys = cache.like(index)
        size += 2 * rows * keys.shape[1] * keys.shape[3] * keys.dtype.itemsize
    return size


def lifted(cache: KVCache, spans: Sequence[Kept], rotation: KeyRotation) -> list[Lifted]:
    """The rows of ``spans``, which ``cache`` holds, for their new places; changes nothing.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    if rotation.depth != cache.depth:
        raise RuntimeError(f"keys of {rotation.depth} layers are turned, of {cache.depth} held")
    copies = list[Lifted]()
    with torch.no_grad():
        for span in spans:
            move = rotation.move(*span)
            layers = list[Rows]()
            for index in range(cache.depth):
                held = cache.rows(index, span.old, span.old + span.rows)
                keys = move(index, held.keys)
                layers.append(Rows(keys.clone() if keys is held.keys else keys, held[1].clone()))
            copies.append(Lifted(span, layers))
    return copies


def cut(cache: KVCache, start: int, end: int) -> None:
    """Keep ``start`` positions, with room for ``end``. When it fails, they are kept all the same.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    cache.truncate(start)
    for layer in cache.layers:
        # Small buffers would be taken for the first rows, and exchanged for those to come.
        layer.reserve(cache.own(end))


def put_down(cache: KVCache, copy: Lifted, room: int) -> None:
    """Append ``copy`` behind all that ``cache`` holds, which ends where its new place begins;
    ``room``: positions that it will hold soon. When it fails, the cache holds what it held.
    """
    span = copy.span
    if cache.length != span.new:
        raise RuntimeError(f"{cache.length} positions lie before those at {span.new}")
    try:
        with torch.no_grad():
            for index, (keys, values) in enumerate(copy.layers):
                cache.layer(index).append(keys[None], values[None], room=cache.own(room))
    except BaseException:
        cache.truncate(span.new)
        raise
    cache.lineage.moved_behind(span.new)
    cache.grown_to(span.new + span.rows)
