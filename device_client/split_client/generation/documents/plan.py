"""Which rows of known chunks are taken and which are computed, as splices of a session.

Computed are all rows that no chunk has, the first ones of each chunk that is taken, which attended
to what came before it most of all, and everything from the last question on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from split_client.generation.editing.plan import SEAM, WORTH
from split_wire.documents.chunks import Named
from split_wire.splice import Kept, gaps


@dataclass(frozen=True, slots=True)
class Take:
    """Hold ``start`` positions, then take ``spans`` of the chunks named ``sources``; ``whole``: the
    rows of all positions behind ``start`` are brought.
    """

    start: int
    spans: tuple[Kept, ...]
    sources: bytes
    whole: bool = False

    @property
    def end(self) -> int:
        """Positions that are held afterwards."""
        return self.spans[-1].new + self.spans[-1].rows

    @property
    def takes(self) -> int:
        """Rows that are known."""
        return sum(span.rows for span in self.spans)

    @property
    def missing(self) -> int:
        """Rows that are not."""
        return self.end - self.start - self.takes

    @property
    def parts(self) -> list[range]:
        """The positions whose rows are brought."""
        if self.whole:
            return [range(self.start, self.end)]
        found, position = list[range](), self.start
        for (first, last), span in zip(
            gaps(self.start, self.spans, self.missing), self.spans, strict=False
        ):
            found.append(range(position, position + last - first))
            position = span.new + span.rows
        return found


def planned(
    start: int, known: Sequence[Named], limit: int, most: int, *, whole: bool = False
) -> list[Take]:
    """Takes, one after the other, of all ``known`` chunks behind ``start`` up to ``limit``; what
    lies between them is computed as any text is.

    ``most``: rows that one of them may bring; ``whole``: rows of all positions are brought.
    """
    spans = list[tuple[Kept, bytes]]()
    for one in known:
        rows = min(one.chunk.end, limit) - one.chunk.start - SEAM
        if one.chunk.start >= start and rows >= WORTH - SEAM:
            spans.append((Kept(SEAM, one.chunk.start + SEAM, rows), one.name))
    return _whole(start, spans, most) if whole else _between(start, spans, most)


def _between(start: int, spans: Sequence[tuple[Kept, bytes]], most: int) -> list[Take]:
    takes, group, position, room = list[Take](), list[tuple[Kept, bytes]](), start, most
    for span, name in spans:
        gap = span.new - position
        if gap > room:
            takes += _taken(start, group)
            start = _begin(position, span, most)
            gap, room, group = span.new - start, most, []
        group.append((span, name))
        position, room = span.new + span.rows, room - gap
    return [*takes, *_taken(start, group)]


def _whole(start: int, spans: Sequence[tuple[Kept, bytes]], most: int) -> list[Take]:
    takes, group, position = list[Take](), list[tuple[Kept, bytes]](), start
    for span, name in spans:
        rest = span
        while rest.rows:
            room = start + most - rest.new
            if room <= 0:
                takes += _taken(start, group, whole=True)
                start, group = _begin(position, rest, most), []
                continue
            part = rest._replace(rows=min(rest.rows, room))
            group.append((part, name))
            position = part.new + part.rows
            rest = Kept(rest.old + part.rows, position, rest.rows - part.rows)
    return [*takes, *_taken(start, group, whole=True)]


def _begin(position: int, span: Kept, most: int) -> int:
    """Where the take of ``span`` begins, behind ``position``."""
    return position if span.new - position < most else span.new - SEAM


def _taken(start: int, group: Sequence[tuple[Kept, bytes]], *, whole: bool = False) -> list[Take]:
    if not group:
        return []
    names = b"".join(name for _, name in group)
    return [Take(start, tuple(span for span, _ in group), names, whole)]
