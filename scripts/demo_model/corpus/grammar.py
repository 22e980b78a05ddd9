"""The small pattern language of the text files.

``[a|b|]`` stands for one of its alternatives; groups do not nest. ``{n}`` stands for a number,
other ``{slots}`` are filled by the reader of the file.
"""

import itertools
import re
from random import Random

_GROUP = re.compile(r"\[([^\[\]]*)\]")
_NOT_WORD = re.compile(r"[^\w+*/%-]+")
_SPACE = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.?!])")


def tidy(text: str) -> str:
    """Single spaces, none before a punctuation mark, no trailing comma."""
    text = _SPACE_BEFORE_MARK.sub(r"\1", _SPACE.sub(" ", text))
    return text.strip().rstrip(",").strip()


def normalise(text: str) -> str:
    """The form in which two phrasings count as the same: lower case, words only."""
    return _SPACE.sub(" ", _NOT_WORD.sub(" ", text.lower())).strip()


def expand(pattern: str) -> list[str]:
    """All texts that a pattern stands for, in a fixed order and without duplicates."""
    parts = _GROUP.split(pattern)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    texts = (tidy("".join(choice)) for choice in itertools.product(*choices))
    return list(dict.fromkeys(texts))


def fill_numbers(text: str, rng: Random) -> str:
    """Replace every ``{n}`` by a random number below 1,000."""
    while "{n}" in text:
        text = text.replace("{n}", str(rng.randrange(10 ** rng.randint(1, 3))), 1)
    return text


def without_article(name: str) -> str:
    """``a relay`` -> ``relay``."""
    return re.sub(r"^(a|an|the) ", "", name, flags=re.IGNORECASE)


def capitalised(text: str) -> str:
    """First letter upper case, the rest untouched."""
    return text[:1].upper() + text[1:]
