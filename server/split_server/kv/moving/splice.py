"""Rows of a session's cache that are lifted out and put down at other positions.

Whoever calls this sees to it that no step of the session runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from split_server.kv.cache import KVCache, Rows
from split_server.kv.lineage import Moved
from split_server.kv.moving.rotate import KeyMove, KeyRotation
from split_server.kv.run import Run
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


def lifted_from(
    runs: Sequence[Run], spans: Sequence[Kept], rotation: KeyRotation, device: torch.device
) -> list[Lifted]:
    """The rows of ``spans``, the old place of each counted from the beginning of its run, for their
    new places in a cache on ``device``; changes nothing.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    copies = list[Lifted]()
    with torch.no_grad():
        for run, span in zip(runs, spans, strict=True):
            if rotation.depth != len(run.layers):
                raise RuntimeError(f"keys of {rotation.depth} layers, of {len(run.layers)} kept")
            run.wait()
            old = run.start + span.old
            move = rotation.move(old, span.new, span.rows)
            layers = [
                _taken(run, index, old, old + span.rows, move, device)
                for index in range(len(run.layers))
            ]
            copies.append(Lifted(span, layers))
    return copies


def _taken(
    run: Run, index: int, first: int, last: int, move: KeyMove, device: torch.device
) -> Rows:
    """Rows of a layer of ``run``, moved; never those of the run themselves."""
    keys, values = (part.to(device, copy=True) for part in run.rows(index, first, last))
    return Rows(move(index, keys), values)


def cut(cache: KVCache, start: int, end: int) -> None:
    """Keep ``start`` positions, with room for ``end``. When it fails, they are kept all the same.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    cache.truncate(start)
    for layer in cache.layers:
        # Small buffers would be taken for the first rows, and exchanged for those to come.
        layer.reserve(cache.own(end))


def put_down(cache: KVCache, copy: Lifted, room: int, way: Moved = "moved") -> None:
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
    cache.lineage.moved_behind(span.new, way)
    cache.grown_to(span.new + span.rows)
