"""A reply with its values back, while it is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import NUMBERS
from split_client.redaction.spelling import respelled
from split_client.redaction.spotting import Spot, Spotter
from split_client.redaction.undoing.addresses import (
    MOST_BEHIND,
    goes_on,
    is_settled,
    makes_address,
)
from split_client.redaction.undoing.beginnings import Beginnings
from split_client.redaction.undoing.protected import Protection
from split_client.redaction.undoing.shown import Shown

_MARKED: Final = re.compile("[A-Za-z][\u0300-\u036f]*\\Z")


class Undo:
    """``push`` gives what is certain of the reply so far, ``finish`` the rest; in whatever pieces
    it comes, their texts together are the same.

    ``spoken``: makes of a value what is written, where the reply is no plain text.
    """

    def __init__(
        self,
        spotter: Spotter,
        regions: tuple[str, ...] = (),
        spoken: Callable[[str], str] = lambda value: value,
        beginnings: Beginnings | None = None,
    ) -> None:
        self._spotter, self._regions, self._spoken = spotter, regions, spoken
        self._beginnings = Beginnings(spotter) if beginnings is None else beginnings
        self._protection = Protection()
        self._flags = bytearray()
        self._shown = Shown()
        self._pending = ""

    def push(self, text: str) -> str:
        """More of the reply."""
        if not text:
            return ""
        self._flags += self._protection.flags(text)
        self._pending += text
        left = self._shown.end
        first = self._beginnings.first(left + self._pending)
        if first is None:
            return self._made(final=False)
        return self._emit(max(0, first - len(left)))

    def finish(self) -> str:
        """It has come to its end."""
        return self._made(final=True) if self._pending else ""

    def _made(self, *, final: bool) -> str:
        looked = Looked.at(self._shown.end + self._pending, self._regions)
        spots = [spot for spot in self._spotter.spots(looked) if self._is_new(looked, spot)]
        end = len(looked.folded.source)
        if not final:
            end = self._certain(looked, spots)
        parts, at = list[str](), len(self._shown.end)
        for spot in spots:
            start, stop = looked.folded.span(spot.start, spot.end)
            if start >= end:
                break
            kind = spot.known.entry.kind
            if start >= at and self._is_visible(looked.folded.source, start, stop, kind):
                parts += (looked.folded.source[at:start], self._value(spot, looked))
                at = stop
        parts.append(looked.folded.source[at:end])
        self._emit(end - len(self._shown.end))
        return "".join(parts)

    def _certain(self, looked: Looked, spots: list[Spot]) -> int:
        """Characters of the text of which nothing that may follow makes anything else."""
        source, held = looked.folded.source, list[int]()
        for spot in spots:
            stop = looked.folded.span(spot.start, spot.end)[1]
            if spot.end == len(looked.text) or not is_settled(source[stop:]):
                held.append(spot.start)
        held += self._before_letter(looked)
        for start in self._beginnings.of(looked):
            if not any(spot.start < start < spot.end for spot in spots):
                held.append(start)
        if not held:
            return len(source)
        return max(len(self._shown.end), looked.folded.starts[min(held)])

    def _before_letter(self, looked: Looked) -> list[int]:
        """A surrogate that the last letter touches: a mark may follow, and make it another one."""
        letter = _MARKED.search(looked.folded.source)
        if letter is None:
            return []
        before = Looked.at(looked.folded.source[: letter.start()], self._regions)
        spots = self._spotter.spots(before)
        return [spot.start for spot in spots if spot.end == len(before.text)]

    def _is_new(self, looked: Looked, spot: Spot) -> bool:
        return looked.folded.starts[spot.start] >= len(self._shown.end)

    def _is_visible(self, source: str, start: int, stop: int, kind: str) -> bool:
        left = len(self._shown.end)
        if any(self._flags[start - left : stop - left]):
            return False
        behind = source[stop : stop + MOST_BEHIND + 1]
        if makes_address(behind) or (kind == "email" and goes_on(behind)):
            return False
        return not self._shown.leads_on(source[left:start])

    def _value(self, spot: Spot, looked: Looked) -> str:
        entry = spot.known.entry
        new = entry.key if entry.kind in NUMBERS or entry.kind == "date" else entry.value
        written = respelled(entry.kind, new, looked, spot.start, spot.end, spot.parts)
        return self._spoken(written)

    def _emit(self, count: int) -> str:
        if not count:
            return ""
        gone, self._pending = self._pending[:count], self._pending[count:]
        del self._flags[:count]
        self._shown.add(gone)
        return gone
