"""Surface variation of a question: affixes, punctuation, letter case, typos, dropped words."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from scripts.demo_model.corpus.facts import named_list, word_list
from scripts.demo_model.corpus.grammar import capitalised, tidy

_SPECIAL_CASE = {word.lower(): word for word in named_list("casing")}
_STOP_WORDS = frozenset(named_list("stop_words"))
_QUESTION_START = re.compile(
    r"^(what|what's|whats|who|where|when|why|how|how's|which|is|are|do|does|did|can|could|will|"
    r"would|should|may|am|was|were|have|has|any|on what|in what|in which|on which|at what|at which|"
    r"by whom|with what|from what|and|so what)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z']+")
_NEIGHBOURS = {
    "a": "s", "b": "v", "c": "x", "d": "f", "e": "r", "f": "g", "g": "h", "h": "j", "i": "o",
    "j": "k", "k": "l", "l": "k", "m": "n", "n": "m", "o": "p", "p": "o", "q": "w", "r": "t",
    "s": "a", "t": "y", "u": "i", "v": "b", "w": "e", "x": "c", "y": "u", "z": "x",
}  # fmt: skip


@cache
def affixes() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that people put before and after a question."""
    lines = word_list("affixes")
    before = tuple(line[2:] for line in lines if line.startswith("< "))
    after = tuple(line[2:] for line in lines if line.startswith("> "))
    return before, after


def cased(text: str) -> str:
    """Usual English casing of a lower-case question."""
    text = _WORD.sub(lambda m: _SPECIAL_CASE.get(m.group().lower(), m.group()), text)
    return capitalised(text)


def punctuated(text: str) -> str:
    """Add the mark that the sentence asks for."""
    if text[-1:] in "?!." or not _QUESTION_START.match(text):
        return text
    return text + "?"


def proper(text: str) -> str:
    """A question as a careful writer types it."""
    return cased(punctuated(text))


def _typo(word: str, rng: Random) -> str:
    place = rng.randrange(1, len(word))
    kind = rng.randrange(4)
    if kind == 0:
        return word[:place] + word[place + 1 :]
    if kind == 1:
        return word[:place] + word[place] + word[place:]
    if kind == 2 and place + 1 < len(word):
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + _NEIGHBOURS.get(word[place].lower(), word[place]) + word[place + 1 :]


def with_typo(text: str, rng: Random) -> str:
    """One misspelt word of at least five letters, if there is one."""
    words = text.split(" ")
    places = [i for i, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
    if places:
        place = rng.choice(places)
        words[place] = _typo(words[place], rng)
    return " ".join(words)


def without_stop_word(text: str, rng: Random) -> str:
    """One stop word dropped, if at least two other words remain."""
    words = text.split(" ")
    places = [i for i, word in enumerate(words) if word in _STOP_WORDS]
    if places and len(words) >= 4:
        del words[rng.choice(places)]
    return " ".join(words)


def with_affix(text: str, rng: Random) -> str:
    """A greeting or filler before, or a remark after the question."""
    before, after = affixes()
    if rng.random() < 0.6:
        return tidy(f"{rng.choice(before)} {text}")
    return tidy(f"{text} {rng.choice(after)}")


def _finish(text: str, rng: Random) -> str:
    if rng.random() < 0.7:
        text = punctuated(text)
    elif rng.random() < 0.15:
        text += rng.choice([".", "!", "...", " ?", "??"])
    draw = rng.random()
    if draw < 0.50:
        return cased(text)
    if draw < 0.94:
        return text if rng.random() < 0.4 else text.lower()
    return text.upper() if draw < 0.97 else text.title()


def gentle(text: str, rng: Random) -> str:
    """Variation without spelling mistakes: affixes, punctuation, letter case."""
    if rng.random() < 0.25:
        text = with_affix(text, rng)
    return _finish(text, rng)


def vary(text: str, rng: Random) -> str:
    """A question as people type it, including slips."""
    draw = rng.random()
    if draw < 0.18:
        text = with_typo(text, rng)
    elif draw < 0.28:
        text = without_stop_word(text, rng)
    return gentle(text, rng)
