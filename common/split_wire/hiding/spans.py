"""Spans of a session's positions: which of its rows no later row sees.

A span [start, end) of cached positions that is hidden leaves attention and keeps its positions. The
first positions, which take what no token needs (attention sinks: Xiao et al. 2023,
https://arxiv.org/abs/2309.17453), are never hidden.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TypeAlias

from split_wire.errors import MalformedMessage, SpansRefused
from split_wire.fields import Fields

CAPABILITY = "spans"
# Of one message, and of what a session hides.
MOST_SPANS = 1024
# Positions at the beginning that are never hidden.
SINKS = 4

Span: TypeAlias = tuple[int, int]
# Sorted by their starts, disjoint, none empty.
Spans: TypeAlias = tuple[Span, ...]
_PAIR = struct.Struct("<II")


def spans_value(spans: Spans) -> bytes:
    """The field of a message that carries ``spans``."""
    return b"".join(_PAIR.pack(*span) for span in spans)


def spans_field(fields: Fields, name: str, most: int = MOST_SPANS) -> Spans:
    """The spans of a message, at most so many. Raises MalformedMessage."""
    data = fields.bytes_of_pairs(name, _PAIR.size, most)
    spans = tuple((start, end) for start, end in _PAIR.iter_unpack(data))
    if not all(start < end for start, end in spans):
        raise MalformedMessage(f"{name!r} has a span without positions")
    if not all(one[1] <= other[0] for one, other in pairwise(spans)):
        raise MalformedMessage(f"{name!r} must be sorted and must not overlap")
    return spans


def optional_span(fields: Fields, name: str) -> Spans:
    """One span of a message, none where the field is missing. Raises MalformedMessage."""
    return () if fields.missing(name) else spans_field(fields, name, 1)


def require_hideable(spans: Spans, message: Spans) -> None:
    """Raise SpansRefused where ``spans`` touch the sinks or the user's last ``message``."""
    if spans and spans[0][0] < SINKS:
        raise SpansRefused(f"the first {SINKS} positions are always seen")
    if without(spans, message) != spans:
        start, end = message[0]
        raise SpansRefused(f"the last message, positions {start} to {end - 1}, is always seen")


def require_few(spans: Spans) -> None:
    """Raise SpansRefused for more than a session may hide."""
    if len(spans) > MOST_SPANS:
        raise SpansRefused(f"{len(spans)} separate spans are more than {MOST_SPANS}")


def union(one: Spans, other: Spans) -> Spans:
    """All positions of both; spans that touch become one."""
    joined: list[Span] = []
    for start, end in sorted((*one, *other)):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def without(spans: Spans, other: Spans) -> Spans:
    """The positions of ``spans`` that are none of ``other``, both sorted."""
    left: list[Span] = []
    taken = iter((*other, (1 << 62, 1 << 62)))
    at = next(taken)
    for start, end in spans:
        while at[1] <= start:
            at = next(taken)
        while at[0] < end:
            if start < at[0]:
                left.append((start, at[0]))
            start = max(start, at[1])
            if at[1] >= end:
                break
            at = next(taken)
        if start < end:
            left.append((start, end))
    return tuple(left)


def cut(spans: Spans, length: int) -> Spans:
    """What ``spans`` have of the first ``length`` positions."""
    if not spans or spans[-1][1] <= length:
        return spans
    return tuple((start, min(end, length)) for start, end in spans if start < length)


def count(spans: Spans) -> int:
    """How many positions they have."""
    return sum(end - start for start, end in spans)


def gaps(spans: Spans, length: int) -> Spans:
    """The first ``length`` positions that are none of ``spans``."""
    return without(((0, length),), spans) if length else ()
