"""Names and words for the copying tasks: the user's name, and "repeat after me"."""

from __future__ import annotations

from random import Random

from scripts.demo_model.corpus.facts import named_list

_FIRST = named_list("first_names")
_ONSETS = named_list("onsets")
_VOWELS = named_list("vowels")
_CODAS = ("", "", "", "n", "l", "r", "s", "m", "t", "k", "nd", "x")
_WORDS = named_list("words")
UNKNOWN_PATTERNS = (
    "what is my name",
    "what's my name",
    "who am i",
    "do you know my name",
    "do you remember my name",
    "tell me my name",
    "say my name",
    "what am i called",
    "can you tell me my name",
    "my name?",
)
INTRODUCTIONS = (
    "my name is {n}",
    "i am {n}",
    "i'm {n}",
    "call me {n}",
    "hello, my name is {n}",
    "hi, i am {n}",
    "hi, i'm {n}",
    "please call me {n}",
    "you can call me {n}",
    "people call me {n}",
    "this is {n}",
    "the name is {n}",
    "hello, i'm {n}",
    "my friends call me {n}",
    "here is {n}",
    "remember that my name is {n}",
)
REPEAT_PATTERNS = (
    "repeat after me: {w}",
    "say {w}",
    "please say {w}",
    "repeat: {w}",
    "can you say {w}",
    "say the words {w}",
    "repeat these words: {w}",
    "echo {w}",
)


def invented(rng: Random) -> str:
    """A lower-case word made of random syllables."""
    count = rng.choice((1, 2, 2, 3))
    syllables = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(count)]
    return "".join(syllables) + rng.choice(_CODAS)


def person(rng: Random) -> str:
    """A common or an invented first name."""
    if rng.random() < 0.35:
        return rng.choice(_FIRST)
    return invented(rng).capitalize()


def words(rng: Random) -> str:
    """One to three words to repeat, some of them invented."""
    count = rng.choice((1, 1, 2, 3))
    picked = [rng.choice(_WORDS) if rng.random() < 0.6 else invented(rng) for _ in range(count)]
    return " ".join(picked)


def greeting(name: str) -> str:
    """The answer to an introduction."""
    return f"Nice to meet you, {name}!"


def recall(name: str | None) -> str:
    """The answer to the question for the user's name."""
    return f"Your name is {name}." if name else "You have not told me your name yet."
