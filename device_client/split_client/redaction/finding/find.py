"""All values in a text, in the order of the kinds and without overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Final

from split_client.redaction.finding.cards import cards
from split_client.redaction.finding.dates import dates
from split_client.redaction.finding.emails import emails
from split_client.redaction.finding.ibans import ibans
from split_client.redaction.finding.ids import ids
from split_client.redaction.finding.looked import Looked
from split_client.redaction.finding.names import NameKind, found_names
from split_client.redaction.finding.phones import phones
from split_client.redaction.finding.streets import streets
from split_client.redaction.kinds import Found, Kind

_FINDERS: Final[tuple[tuple[Kind, Callable[[Looked], Iterator[Found]]], ...]] = (
    ("email", emails),
    ("iban", ibans),
    ("card", cards),
    ("id", ids),
    ("phone", phones),
    ("date", dates),
    ("street", streets),
)


_APART: Final = frozenset[Kind](("iban", "card", "id", "phone"))


def find(
    looked: Looked, kinds: Set[Kind], known: Iterable[Found], names: Mapping[str, NameKind]
) -> list[Found]:
    """From left to right. ``known``: what is found already; ``names``: keys of known names."""
    free = _Free()
    for found in known:
        free.take(found)
    for kind, finder in _FINDERS:
        if kind in kinds:
            # A number is none of another one, and does not go on in it.
            seen = free.left(looked) if kind in _APART else looked
            for found in finder(seen):
                free.take(found)
    for found in found_names(looked, names, only_known="given" not in kinds):
        free.take(found)
    return free.sorted()


class _Free:
    """What of a text nothing was found in yet."""

    def __init__(self) -> None:
        self._taken: list[Found] = []
        self._covered = bytearray()

    def take(self, found: Found) -> None:
        """Unless another one has some of it."""
        if found.end > len(self._covered):
            self._covered.extend(bytes(found.end - len(self._covered)))
        if not any(self._covered[found.start : found.end]):
            self._covered[found.start : found.end] = b"\1" * (found.end - found.start)
            self._taken.append(found)

    def left(self, looked: Looked) -> Looked:
        """``looked`` with a # for every character of what is taken."""
        return looked.hiding((found.start, found.end) for found in self._taken)

    def sorted(self) -> list[Found]:
        return sorted(self._taken, key=lambda found: found.start)
