"""Lists of words and names out of packages, where they are installed (``gatelink[audit]``).

Only their data files are read; nothing of theirs is run. ``wordsegment`` (Apache-2.0) has words and
pairs of words of the web with their counts, ``names`` (MIT) the names of the US census of 1990.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import islice

_MOST_BYTES = 32 << 20
_NAMES = {"first": ("dist.male.first", "dist.female.first"), "last": ("dist.all.last",)}
_SPOKEN = {"i": "I"}


def word_counts(most: int) -> list[tuple[str, float]]:
    """The ``most`` frequent words of the web and how often they stand there; none without the
    package.
    """
    counts = ((word, count) for word, count in _counts("wordsegment", "unigrams.txt"))
    return [(_SPOKEN.get(word, word), count) for word, count in islice(counts, most)]


def pair_counts(most: int) -> list[tuple[str, str, float]]:
    """The ``most`` frequent pairs of words that follow each other on the web."""
    pairs = sorted(_counts("wordsegment", "bigrams.txt"), key=lambda one: -one[1])
    found = []
    for pair, count in pairs[:most]:
        first, _, second = pair.partition(" ")
        if first.isalpha() and second.isalpha():
            found.append((_SPOKEN.get(first, first), _SPOKEN.get(second, second), count))
    return found


def census_names(most: int) -> dict[str, list[str]]:
    """The ``most`` frequent first and last names, as often as their share asks for."""
    found = {}
    for slot, sources in _NAMES.items():
        names = [name for source in sources for name in islice(_names(source), most)]
        if names:
            found[slot] = names
    return found


def _names(source: str) -> Iterator[str]:
    for line in _text("names", source).splitlines():
        name, *_ = line.split() or [""]
        if name.isalpha():
            yield name.title()


def _counts(package: str, name: str) -> Iterator[tuple[str, float]]:
    for line in _text(package, name).splitlines():
        text, _, count = line.rpartition("\t")
        try:
            value = float(count)
        except ValueError:
            continue
        if text and value > 0:
            yield text, value


def _text(package: str, name: str) -> str:
    """A data file of an installed package; empty where it is not there."""
    try:
        path = files(package).joinpath(name)
        data = path.read_bytes()
    except (ModuleNotFoundError, OSError):
        return ""
    return data[:_MOST_BYTES].decode("utf-8", "replace")
