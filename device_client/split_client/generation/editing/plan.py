"""Which rows are kept after an edit and which are computed anew, as splices of a session.

Computed anew are what the edit brings, the first rows of each run that is kept, which attended to
what the edit changed most of all, and everything from the last question on, whose states the reply
begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from split_client.generation.editing.difference import common_runs
from split_client.generation.prefix import common_prefix
from split_wire.splice import Kept, before

# First rows of a run, and last rows of the prompt, that are computed anew.
SEAM, LAST = 8, 16
# Fewer rows are computed sooner than moved.
WORTH = 32


@dataclass(frozen=True, slots=True)
class Edit:
    """Keep ``start`` positions and ``spans``; bring those of the positions in ``rows`` of the
    sequence ``tokens``, all that is held afterwards. Up to ``reach`` they are in their place; what
    comes behind is for the next edit.
    """

    start: int
    spans: tuple[Kept, ...]
    rows: tuple[range, ...]
    tokens: list[int]
    reach: int

    @property
    def brings(self) -> int:
        """Rows that are computed."""
        return sum(map(len, self.rows))

    @property
    def settled(self) -> tuple[Kept, ...]:
        """The spans that are in their place."""
        return before(self.spans, self.reach)

    @property
    def moves(self) -> int:
        """Rows that are kept in their place behind ``start``."""
        return sum(span.rows for span in self.settled)


def planned(
    held: Sequence[int],
    wanted: Sequence[int],
    question: int,
    most: int,
    context: int,
    *,
    whole: bool = False,
) -> list[Edit]:
    """Edits, one after the other, that turn what is ``held`` into a beginning of ``wanted`` with
    most of what both have in common; none where that does not pay.

    ``question``: where the last question begins; ``most``: rows that one edit may bring;
    ``context``: positions that a session may hold; ``whole``: rows of all positions are brought.
    """
    start = common_prefix(held, wanted)
    spans = _kept(held, wanted, min(question, len(wanted) - LAST))
    if sum(span.rows for span in spans) < WORTH:
        return []
    edits, now = list[Edit](), list(held[: spans[-1].old + spans[-1].rows])
    while spans:
        edit, start, spans = _edit(now, wanted, start, spans, most, whole)
        if len(edit.tokens) > context:
            return []
        edits.append(edit)
        now = edit.tokens
    return edits


def _kept(held: Sequence[int], wanted: Sequence[int], limit: int) -> list[Kept]:
    """What is kept of each run, up to ``limit`` of what is wanted."""
    spans = []
    for run in common_runs(held, wanted):
        rows = min(run.new_end, limit) - run.new - SEAM
        if rows >= WORTH - SEAM:
            spans.append(Kept(run.old + SEAM, run.new + SEAM, rows))
    return spans


def _edit(
    now: list[int],
    wanted: Sequence[int],
    start: int,
    spans: Sequence[Kept],
    most: int,
    whole: bool,
) -> tuple[Edit, int, list[Kept]]:
    """The edit that brings at most so many rows; where the next one begins, and what is left for it
    of ``spans``, in the places where this one puts them.
    """
    position, room, rows = start, most, list[range]()
    for index, span in enumerate(spans):
        gap = span.new - position
        part = range(position, position + min(gap, room))
        rows += [part] if part else []
        if gap > room or (room == gap and index + 1 < len(spans)):
            return _cut_short(now, wanted, start, spans, index, part.stop, rows)
        room -= gap
        if whole and span.rows > room:
            first, rest = span._replace(rows=room), span.rows - room
            behind = Kept(span.old + room, span.new + room, rest)
            cut = [*spans[:index], *[first] * (room > 0), behind, *spans[index + 1 :]]
            return _cut_short(now, wanted, start, cut, cut.index(behind), behind.new, rows)
        room -= span.rows if whole else 0
        position = span.new + span.rows
    return Edit(start, tuple(spans), tuple(rows), list(wanted[:position]), position), position, []


def _cut_short(
    now: list[int],
    wanted: Sequence[int],
    start: int,
    spans: Sequence[Kept],
    index: int,
    stop: int,
    rows: list[range],
) -> tuple[Edit, int, list[Kept]]:
    """An edit up to the position ``stop``, before span number ``index``: from that one on, all that
    there is goes right behind it, for the next edit to put in its place.
    """
    first = spans[index]
    rest = Kept(first.old, stop, len(now) - first.old)
    tokens = [*wanted[:stop], *now[first.old :]]
    moved = [span._replace(old=span.old - first.old + stop) for span in spans[index:]]
    return Edit(start, (*spans[:index], rest), tuple(rows), tokens, stop), stop, moved
