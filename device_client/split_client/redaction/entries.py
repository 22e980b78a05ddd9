"""The map of one chat: which surrogate stands for which value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from split_client.redaction.errors import RedactionMapInvalid
from split_client.redaction.kinds import NAMES, Kind

# Far more than a context can hold.
MOST_ENTRIES = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """``surrogate`` stands for ``value``, whose key is ``key``.

    ``value`` as it was first written; ``surrogate``: of numbers and dates in the form of their
    keys, else a text. ``rule``: the one that found it, of ids and addresses.
    """

    kind: Kind
    key: str
    value: str
    surrogate: str
    rule: str = ""


class Entries:
    """In the order in which they were made. Changed by one thread at a time."""

    def __init__(self) -> None:
        self._all: list[Entry] = []
        self._by_key: dict[tuple[Kind, str], Entry] = {}
        self._surrogates: set[tuple[Kind, str]] = set()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def get(self, kind: Kind, key: str) -> Entry | None:
        """That of the value; a word has one entry, whichever name it is."""
        return self._by_key.get((_kind(kind), key))

    def add(self, entry: Entry) -> None:
        """Raises RedactionMapInvalid for a value that has one, for a surrogate that stands for
        another one, and where there are too many.
        """
        key, surrogate = (_kind(entry.kind), entry.key), (_kind(entry.kind), entry.surrogate)
        if key in self._by_key or surrogate in self._surrogates:
            raise RedactionMapInvalid("two entries are of the same value or surrogate")
        if len(self._all) >= MOST_ENTRIES:
            raise RedactionMapInvalid(f"it has more than {MOST_ENTRIES} entries")
        self._all.append(entry)
        self._by_key[key] = entry
        self._surrogates.add(surrogate)


def _kind(kind: Kind) -> Kind:
    return "given" if kind in NAMES else kind
