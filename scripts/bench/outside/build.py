"""The attacker's n-gram prior for one tokenizer, of all texts and phrases that there are."""

from __future__ import annotations

from pathlib import Path
from random import Random

from scripts.bench.outside import texts
from scripts.bench.outside.counts import LONGEST, Grams, grams_of, grams_of_phrases
from scripts.bench.outside.phrases import Phrase, Trigrams
from scripts.bench.outside.prior import Counts, Mixture
from scripts.bench.outside.target import Target
from scripts.bench.outside.templates import Templates

# Words that the phrases stand for, and what is rarer among them is left out.
_WORDS, _LEAST = 2e7, 1.5
_FILLED = 20_000
_WEIGHTS = {"phrases": 0.45, "texts": 0.25, "templates": 0.30}


def prior_of(target: Target, corpora: Path, *, templates: bool, seed: int = 0) -> Mixture:
    """Counted from the folder ``corpora``; ``seed``: of the filled templates."""
    counter = _Counter(target)
    words, people = texts.word_list(corpora), texts.people(corpora)
    patterns = Templates(people, words, Random(seed)).messages(_FILLED)
    dialogues = texts.dialogues(corpora) + texts.fortunes(corpora)
    names = [p[field] for p in people for field in ("GivenName", "Surname", "City")]
    parts = {
        "phrases": [counter.phrases(corpora / "en-us.arpa", words), counter.words(words + names)],
        "texts": [counter.texts(dialogues)],
        "templates": [counter.texts(patterns)],
    }
    if not templates:
        del parts["templates"]
    whole = sum(_WEIGHTS[name] for name in parts)
    found = [(_WEIGHTS[name] / whole, Counts(part, target.size)) for name, part in parts.items()]
    return Mixture(found, target.size)


class _Counter:
    """Counts in tokens of ``target``."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._begin, self._end = target.size, target.size + 1

    def texts(self, found: list[str]) -> list[Grams]:
        """Of whole messages."""
        return grams_of(self._target.encode(found), 1.0, self._begin, self._end)

    def words(self, words: list[str]) -> list[Grams]:
        """Of words behind anything."""
        tokens = self._target.encode([" " + word for word in words])
        return grams_of_phrases([([], row, 1.0) for row in tokens])

    def phrases(self, arpa: Path, words: list[str]) -> list[Grams]:
        """Of a word model's trigrams."""
        found = list(Trigrams(arpa, words).phrases(_WORDS, _LEAST))
        whole = self._target.encode([phrase.words for phrase in found])
        known = self._target.encode([phrase.known for phrase in found])
        rows = [self._phrase(*each) for each in zip(found, whole, known, strict=True)]
        return grams_of_phrases(rows)

    def _phrase(
        self, phrase: Phrase, whole: list[int], known: list[int]
    ) -> tuple[list[int], list[int], float]:
        before = [self._begin] * LONGEST if phrase.begin else []
        return before + known, whole[len(known) :], phrase.count
