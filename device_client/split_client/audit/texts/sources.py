"""All public texts together: messages, words with counts, pairs of words with counts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from split_client.audit.texts.packages import census_names, pair_counts, word_counts
from split_client.audit.texts.phrases import Filler, filled, lists

_SEED = 1
# Draws for each slot of a shipped message, of names, of words and of their pairs.
_TIMES, _NAMES, _WORDS, _PAIRS = 40, 3000, 30_000, 150_000
_NAMED = ("first", "last", "city", "country", "street", "company", "word", "thing", "place")


@dataclass(frozen=True, slots=True)
class Texts:
    """``messages``: whole ones; ``words`` and ``pairs`` of words that follow each other, with how
    often they were found in texts of all kinds; ``written``: messages that a language model
    wrote.
    """

    messages: tuple[str, ...]
    words: tuple[tuple[str, float], ...] = ()
    pairs: tuple[tuple[str, str, float], ...] = ()
    written: tuple[str, ...] = ()


def public_texts() -> Texts:
    """The shipped texts, and what the packages of ``gatelink[audit]`` add where they are there.

    The same ones every time.
    """
    words, census = lists(), census_names(_NAMES)
    # Names of other countries are as likely as those of the census.
    for slot, names in census.items():
        words[slot] = words[slot] * max(1, len(names) // len(words[slot])) + names
    filler = Filler(words, Random(_SEED))  # noqa: S311 - no secret
    messages = tuple(filled(filler, _TIMES))
    counts = word_counts(_WORDS)
    # Every name and place is a word, about as frequent as a rare one.
    rare = counts[-1][1] if counts else 1.0
    listed = {name for slot in _NAMED for one in words[slot] for name in one.split()}
    counts += [(name, rare) for name in sorted(listed - {word for word, _ in counts})]
    return Texts(messages, tuple(counts), tuple(pair_counts(_PAIRS)))
