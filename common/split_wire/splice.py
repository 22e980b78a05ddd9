"""Edits inside a prompt: spans of cached rows that go on at other positions, and their names.

A splice keeps ``start`` positions and then some spans of what lies behind them, each at a new
place; the rows that it brings fill the positions between and behind. What a span's rows were
computed behind is not what precedes them then, so that from the first span on the cache is
approximate, and is named apart from whatever the same rows are called that are computed plainly.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

from split_wire.digest import DIGEST_BYTES, PrefixChain, linked
from split_wire.documents.chunks import LONGEST, SEED
from split_wire.errors import MalformedMessage
from split_wire.fields import MAX_STEP
from split_wire.tensor import Tensor

CAPABILITY = "splice"
BLEND = "blend"
# Of the rows that are kept; with more of them computed, an edit had better not be one.
MOST_BLEND = 0.5
MOST_SPANS = 1024
_NUMBERS = 3
_PERSON = b"split.v1 splice"


class Kept(NamedTuple):
    """So many ``rows`` that begin at position ``old`` of the cache begin at ``new`` afterwards."""

    old: int
    new: int
    rows: int


def spans_field(
    value: Any, start: int, rows: int, blend: float = 0.0, *, sources: bytes = b""
) -> tuple[Kept, ...]:
    """The spans of a splice that keeps ``start`` positions and brings ``rows``, with a ``blend``
    those of all positions behind up to some, where no span may be cut. ``sources``: the names of
    the chunks that they are of; empty: of the session itself.

    Sorted and disjoint, at their old places and at their new ones, none within the first ``start``
    positions, and with no more positions between them than there are rows. Raises MalformedMessage.
    """
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_SPANS:
        raise MalformedMessage(f"'spans' must be a list of 1 to {MOST_SPANS} spans")
    spans = tuple(map(_span, value))
    if sources:
        _require_in_chunks(spans, sources)
    for before, after in pairwise((Kept(start, start, 0), *spans)):
        old_fits = bool(sources) or after.old >= before.old + before.rows
        if not old_fits or after.new < before.new + before.rows:
            raise MalformedMessage("'spans' must be sorted and disjoint, behind 'start'")
    last = spans[-1]
    if blend:
        whole = not any(span.new < start + rows < span.new + span.rows for span in spans)
        fits = whole and last.new + last.rows <= end_of(start, spans, rows, blend)
    else:
        fits = last.new <= end_of(start, spans[:-1], rows)
    if not fits:
        raise MalformedMessage("there are fewer rows than positions between 'spans'")
    return spans


def _require_in_chunks(spans: Sequence[Kept], sources: bytes) -> None:
    if len(sources) != DIGEST_BYTES * len(spans):
        raise MalformedMessage(f"'sources' must have {DIGEST_BYTES} bytes for each span")
    if any(span.old + span.rows > LONGEST for span in spans):
        raise MalformedMessage(f"a span must lie within the {LONGEST} rows of a chunk")


def _span(value: Any) -> Kept:
    if not isinstance(value, list) or len(value) != _NUMBERS:
        raise MalformedMessage("a span must be a list of three numbers")
    for number in value:
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole or not 0 <= number <= MAX_STEP:
            raise MalformedMessage(f"a span's numbers must be whole, from 0 to {MAX_STEP}")
    if not value[2]:
        raise MalformedMessage("a span must have a row")
    return Kept(*value)


def spans_value(spans: Sequence[Kept]) -> list[list[int]]:
    """As they travel."""
    return [list(span) for span in spans]


def blend_field(value: Any) -> float:
    """The share of kept rows that is computed anew, 0 for none. Raises MalformedMessage."""
    if value is None:
        return 0.0
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= MOST_BLEND:
        raise MalformedMessage(f"'blend' must be a number from 0 to {MOST_BLEND}")
    return float(value)


def before(spans: Sequence[Kept], position: int) -> tuple[Kept, ...]:
    """Those whose new places end at ``position`` or before."""
    return tuple(span for span in spans if span.new + span.rows <= position)


def blended(spans: Sequence[Kept], blend: float) -> int:
    """How many rows of ``spans`` are computed anew."""
    return math.ceil(blend * sum(span.rows for span in spans))


def end_of(start: int, spans: Sequence[Kept], rows: int, blend: float = 0.0) -> int:
    """Positions that are held after a splice that brings ``rows``, with a ``blend`` those of all
    positions up to some, behind which spans follow that are only moved.
    """
    moved = (span.rows for span in spans if not blend or span.new >= start + rows)
    return start + rows + sum(moved)


def gaps(start: int, spans: Sequence[Kept], rows: int) -> Iterator[tuple[int, int]]:
    """First and last row of those that come before each span, and behind the last one; none of
    them may be there.
    """
    position, first = start, 0
    for span in spans:
        last = first + span.new - position
        yield first, last
        position, first = span.new + span.rows, last
    yield first, rows


def pieces(
    start: int, spans: Sequence[Kept], rows: Tensor, blend: float = 0.0
) -> list[tuple[int, Tensor]]:
    """The rows that a splice brings, by the position of the first of each run; none with a
    ``blend``: which of them are computed is not known.
    """
    if blend:
        return []
    found, position = list[tuple[int, Tensor]](), start
    for (first, last), span in zip(gaps(start, spans, rows.rows), [*spans, None], strict=True):
        if first < last:
            found.append((position, rows.part(first, last)))
        position = 0 if span is None else span.new + span.rows
    return found


def spliced(
    chain: PrefixChain,
    start: int,
    spans: Sequence[Kept],
    rows: Tensor,
    blend: float = 0.0,
    sources: bytes = b"",
) -> list[bytes]:
    """The digests of all positions behind ``start`` after the splice; changes nothing.

    Rows before the first span are named as ever. What follows is named by the digest before it and
    one of the whole splice: the spans, the names of their ends or of the chunks that are their
    ``sources``, all rows that it brings, and the ``blend``, where there is one.
    """
    first, digests = spans[0].new, list[bytes]()
    if first > start:
        digests = linked(chain.at(start), rows.part(0, first - start))
    mark = _mark(chain, spans, rows, blend, sources)
    digest = digests[-1] if digests else chain.at(start)
    for _ in range(end_of(start, spans, rows.rows, blend) - first):
        digest = blake2b(digest + mark, digest_size=DIGEST_BYTES, person=_PERSON).digest()
        digests.append(digest)
    return digests


def _mark(
    chain: PrefixChain, spans: Sequence[Kept], rows: Tensor, blend: float, sources: bytes
) -> bytes:
    """Names the whole splice, 16 bytes."""
    mark = blake2b(digest_size=DIGEST_BYTES, person=_PERSON)
    mark.update(len(spans).to_bytes(8, "little"))
    for index, span in enumerate(spans):
        if sources:
            mark.update(SEED + sources[DIGEST_BYTES * index : DIGEST_BYTES * (index + 1)])
        else:
            mark.update(chain.at(span.old) + chain.at(span.old + span.rows))
        mark.update(b"".join(number.to_bytes(8, "little") for number in span))
    mark.update(rows.dtype.encode())
    mark.update(rows.data)
    mark.update(rows.scales)
    if blend:
        mark.update(struct.pack("<d", blend))
    return mark.digest()
