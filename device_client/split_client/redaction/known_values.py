"""What a map knows, in the forms in which it is looked for."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from split_client.redaction.entries import Entry
from split_client.redaction.finding.find import find
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import NAMES, NUMBERS, Found, number_of
from split_client.redaction.settings import NameKind, RedactionSettings, own_words
from split_client.redaction.spotting import Known, Spotter, key_of


class KnownValues:
    """``surrogates`` looks for those of the map; the sets have keys of values and surrogates."""

    def __init__(self) -> None:
        self.surrogates = Spotter()
        self._both = Spotter(strict=True)
        self._names: dict[str, NameKind] = {}
        self._own: dict[str, NameKind] = {}
        self.of_numbers: set[str] = set()
        self.of_names: set[str] = set()
        self.of_texts: set[str] = set()

    def add(self, entry: Entry) -> None:
        """One more entry of the map."""
        kind, surrogate = entry.kind, key_of(entry.kind, entry.surrogate)
        self.surrogates.add(Known(kind, surrogate, entry))
        if kind == "given" or kind == "family":
            self._names.setdefault(entry.key, kind)
            self._names.setdefault(surrogate, kind)
        else:
            self._both.add(Known(kind, entry.key, entry))
            self._both.add(Known(kind, surrogate, entry))
        note(self.of_numbers, self.of_names, self.of_texts, entry)

    def own(self, names: Iterable[str]) -> None:
        """Instead of the person's own names so far."""
        self._own = {key: kind for name in names for key, kind in own_words(name).items()}

    def found(self, looked: Looked, settings: RedactionSettings) -> list[Found]:
        """All values in a text, and surrogates that somebody has typed."""
        spots = (
            looked.found(
                spot.known.kind,
                spot.known.key,
                spot.start,
                spot.end,
                spot.known.entry.rule,
                spot.parts,
            )
            for spot in self._both.spots(looked)
        )
        own = self._own if "names" in settings.groups else {}
        return find(looked, settings.kinds, spots, ChainMap(own, self._names))


def note(numbers: set[str], names: set[str], texts: set[str], entry: Entry) -> None:
    """Put value and surrogate of ``entry`` into the set of its sort."""
    kind, both = entry.kind, (entry.key, key_of(entry.kind, entry.surrogate))
    if kind in NUMBERS:
        numbers.update(number_of(kind, each) for each in both)
    else:
        (names if kind in NAMES else texts).update(both)
