"""Chats in which somebody tells a few facts, talks about other things, and asks for the facts.

What a fact is about comes up once in between, without the fact being said again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Fact:
    """``said`` in a message, and ``touched`` by a later one; ``value`` is the word to be told."""

    said: str
    touched: str
    value: str

    @property
    def asked(self) -> str:
        """The question at last. A small model wants to be told what about."""
        return f'What did I tell you at first? "{self._begun} ..."'

    @property
    def answer(self) -> str:
        """The beginning of the answer, which goes on with the value."""
        return f'You said: "{self._begun}'

    @property
    def _begun(self) -> str:
        return self.said[: self.said.index(self.value)].rstrip()


@dataclass(frozen=True, slots=True)
class Chat:
    """``messages`` of the person in their order, and then one question for each fact."""

    messages: tuple[str, ...]
    facts: tuple[Fact, ...]


_FACTS: Final = (
    (
        "My dog is called {}.",
        "Tell me one good thing about my dog.",
        ("Biscuit", "Rocket", "Pepper", "Domino", "Waffles", "Shadow", "Ginger", "Bandit"),
    ),
    (
        "My sister lives in {}.",
        "What could my sister do in her city?",
        ("Lisbon", "Toronto", "Nairobi", "Oslo", "Madrid", "Chicago", "Dublin", "Sydney"),
    ),
    (
        "My job is that of a {}.",
        "What is nice about my work?",
        ("carpenter", "dentist", "librarian", "plumber", "pilot", "baker", "nurse", "gardener"),
    ),
    (
        "My favourite colour is {}.",
        "What could I paint in my favourite colour?",
        ("purple", "orange", "turquoise", "yellow", "silver", "green", "pink", "brown"),
    ),
    (
        "My best friend is called {}.",
        "What could I cook for my best friend?",
        ("Marta", "Henrik", "Priya", "Oliver", "Yusuf", "Clara", "Ivan", "Naomi"),
    ),
    (
        "My instrument is the {}.",
        "What should I play on my instrument?",
        ("violin", "trumpet", "cello", "flute", "piano", "drums", "harp", "guitar"),
    ),
)

_ASIDES: Final = (
    "It rained a little this morning.",
    "I had some tea and toast for breakfast.",
    "The bus was late again today.",
    "I did not sleep very well last night.",
    "It is quite warm outside for this time of the year.",
    "The neighbours are painting their fence.",
    "I went to the shop and came back early.",
    "There is a lot of traffic in the streets.",
    "I tidied up the kitchen before lunch.",
    "Someone left the window open all day.",
)

_TALK: Final = (
    "How does a bird fly?",
    "Why is the sky blue?",
    "What is a volcano?",
    "How is bread made?",
    "Why do leaves fall in autumn?",
    "What does a lighthouse do?",
    "How do bees make honey?",
    "What is a glacier?",
    "Why does the moon change its shape?",
    "How does a bicycle stay upright?",
    "What is a rainbow?",
    "How do fish breathe?",
    "Why is the sea salty?",
    "What does a compass show?",
    "How is paper made?",
)
TOLD: Final = 3
_TALKS: Final = 5


def chat_of(seed: int) -> Chat:
    """The chat of that number: a greeting, three messages with a fact among other sentences, and
    eight about other things, three of which touch the facts.
    """
    draw = random.Random(seed)
    facts = []
    for said, touched, values in draw.sample(_FACTS, TOLD):
        value = draw.choice(values)
        facts.append(Fact(said.format(value), touched, value))
    asides = iter(draw.sample(_ASIDES, 2 * TOLD))
    told = [_mixed(draw, fact.said, next(asides), next(asides)) for fact in facts]
    talk = draw.sample(_TALK, _TALKS)
    between = draw.sample([*(fact.touched for fact in facts), *talk[1:]], TOLD + _TALKS - 1)
    return Chat(("Hello! How are you?", *told, talk[0], *between), tuple(facts))


def _mixed(draw: random.Random, *sentences: str) -> str:
    return " ".join(draw.sample(sentences, len(sentences)))
