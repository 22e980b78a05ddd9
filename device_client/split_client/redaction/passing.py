"""One text on its way out: each value replaced, entries made for those that have none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from split_client.redaction.entries import Entries, Entry
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import NAMES, Found, Kind
from split_client.redaction.known_values import note
from split_client.redaction.spelling import respelled
from split_client.redaction.surrogates.making import Spoken

Make: TypeAlias = Callable[[Found, Looked, Spoken], Entry]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A value that goes out as ``surrogate``, both as they are spelled in the text."""

    kind: Kind
    value: str
    surrogate: str


class Pass:
    """``text``: what goes out; ``new``: entries that the map does not have yet."""

    def __init__(self, looked: Looked, entries: Entries, spoken: Callable[[], Spoken]) -> None:
        self._looked, self._entries, self._ask = looked, entries, spoken
        self._spoken: Spoken | None = None
        self._made: dict[tuple[bool | Kind, str], Entry] = {}
        self.new: list[Entry] = []
        self.replaced: list[Replaced] = []
        self.text = looked.folded.source

    def replace(self, found: Iterable[Found], make: Make) -> None:
        """``found``: from left to right, apart."""
        source, folded = self._looked.folded.source, self._looked.folded
        parts, at = list[str](), 0
        for each in found:
            entry = self._entry(each, make)
            start, end = folded.span(each.start, each.end)
            written = respelled(
                each.kind, entry.surrogate, self._looked, each.start, each.end, each.parts
            )
            # Two values may have parts of one cluster.
            parts += (source[at : max(at, start)], written)
            self.replaced.append(Replaced(each.kind, each.written, written))
            at = max(at, end)
        self.text = "".join([*parts, source[at:]])

    def _entry(self, found: Found, make: Make) -> Entry:
        key = (found.kind in NAMES or found.kind, found.key)
        entry = self._entries.get(found.kind, found.key) or self._made.get(key)
        if entry is not None:
            return entry
        if self._spoken is None:
            self._spoken = self._ask()
        entry = make(found, self._looked, self._spoken)
        spoken = self._spoken
        note(spoken.of_numbers, spoken.of_names, spoken.of_texts, entry)
        self._made[key] = entry
        self.new.append(entry)
        return entry


def first_written(found: Found) -> str:
    """A value as it comes back where nothing of its spelling is left."""
    if found.kind not in NAMES:
        return found.written
    folded = found.written
    if folded in (folded.upper(), folded.lower()):
        return folded[:1].upper() + folded[1:].lower()
    return folded
