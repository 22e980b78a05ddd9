"""The audited model's texts as another model reads them, cut where both have a token's end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.flock import Text
from split_client.audit.attacks.language.ways import Way


@dataclass(frozen=True, slots=True)
class Read:
    """A text whose last word is some ``pieces`` of the other model: ``texts`` [pieces + 1] are what
    it reads before each of them and all of it. ``rests`` [pieces]: what the audited model has
    written behind each of the first ones; None where a token of its goes across there.
    """

    texts: tuple[Text, ...]
    rests: tuple[Way | None, ...]

    @property
    def pieces(self) -> tuple[int, ...]:
        """The last word in the other model's tokens."""
        return tuple(text[-1] for text in self.texts[1:])


class Reader:
    """``other`` reads texts of ``model`` behind ``before``, in its own tokens."""

    def __init__(self, model: PublicModel, other: PublicModel, before: Sequence[int]) -> None:
        self._model, self._other, self._before = model, other, tuple(before)
        self._own, self.spelt = _spellings(model), _spellings(other)

    def read(self, ids: Sequence[int]) -> Read:
        """A text of ``model``."""
        start = self._last_word(ids)
        text, word = (self._model.text(part) if part else "" for part in (ids[:start], ids[start:]))
        begun, pieces = self._pieces(text, word)
        begun = [*self._before, *begun]
        lengths = accumulate((len(self._own[index]) for index in ids[start:]), initial=0)
        stands = {length: start + number for number, length in enumerate(lengths)}
        reached = accumulate((len(self.spelt[piece]) for piece in pieces), initial=0)
        places = [stands.get(length) for length in reached][: len(pieces)]
        return Read(
            tuple((*begun, *pieces[:count]) for count in range(len(pieces) + 1)),
            tuple(None if place is None else tuple(ids[place:]) for place in places),
        )

    def _last_word(self, ids: Sequence[int]) -> int:
        """Where it begins: with a space, or the text with it."""
        start = len(ids) - 1
        while start > 0 and not self._own[ids[start]][:1].isspace():
            start -= 1
        return max(0, start)

    def _pieces(self, text: str, word: str) -> tuple[list[int], list[int]]:
        """The other model's tokens of ``text`` and of the ``word`` behind it."""
        tokens = self._tokens(text + word)
        lengths = list(accumulate((len(self.spelt[token]) for token in tokens), initial=0))
        if len(text) in lengths:
            count = lengths.index(len(text))
            return tokens[:count], tokens[count:]
        # A token goes across, or stands for a part of a letter.
        return self._tokens(text), self._tokens(word)

    def _tokens(self, text: str) -> list[int]:
        return self._other.tokens(text) if text else []


def _spellings(model: PublicModel) -> list[str]:
    """The text of each token; none for one that is no whole text."""
    return [_plain(model.text([index])) for index in range(model.vocabulary)]


def _plain(text: str) -> str:
    return "" if "\ufffd" in text else text
