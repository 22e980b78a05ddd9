"""Questions that the model should decline: invented words, real words outside the corpus."""

from __future__ import annotations

from random import Random

from scripts.demo_model.corpus.facts import definition_templates, named_list, relations, word_list
from scripts.demo_model.corpus.grammar import expand, without_article
from scripts.demo_model.corpus.names import invented

ANSWER = (
    "I do not know that. I am very small and know only a few things; ask me about split inference."
)
HELD_WORDS = 5  # every fifth listed word is never trained
_PLACES = named_list("places")
_SUBJECTS = (
    "why do cats purr",
    "who invented the {w}",
    "how do i repair a {w}",
    "when was the {w} invented",
    "how does a {w} work",
    "where can i buy a {w}",
    "how old is the {w}",
    "who discovered {w}",
    "how much does a {w} cost",
    "how many {w} are there",
    "why is {w} important",
    "what is the history of {w}",
    "how do i cook {w}",
    "who is {w}",
    "when did the war end",
    "how far away is {w}",
    "compare {w} and {v}",
    "what is the difference between {w} and {v}",
    "is {w} better than {v}",
    "how do i play {w}",
    "how do i learn {w}",
)


def trained_words() -> list[str]:
    """Listed words that training may use."""
    return [w for i, w in enumerate(word_list("unknown")) if i % HELD_WORDS]


def held_words() -> list[str]:
    """Listed words that only the evaluation uses."""
    return [w for i, w in enumerate(word_list("unknown")) if i % HELD_WORDS == 0]


def _word(rng: Random, listed: list[str]) -> str:
    return rng.choice(listed) if rng.random() < 0.6 else invented(rng)


def define(word: str, rng: Random) -> str:
    """A question for the meaning of ``word``."""
    name = word if rng.random() < 0.4 else f"{rng.choice(('a', 'the'))} {word}"
    template = rng.choice(expand(rng.choice(definition_templates())))
    return template.replace("{x}", name).replace("{b}", without_article(name))


def question(rng: Random) -> str:
    """A question that has no answer in the corpus."""
    listed = trained_words()
    draw = rng.random()
    if draw < 0.55:
        return define(_word(rng, listed), rng)
    if draw < 0.75:
        place_relations = [r for r in relations() if r.name in ("capital", "language", "currency")]
        key = rng.choice(_PLACES) if rng.random() < 0.7 else invented(rng).capitalize()
        return rng.choice(rng.choice(place_relations).questions(key))
    template = rng.choice(_SUBJECTS)
    return template.replace("{w}", _word(rng, listed)).replace("{v}", _word(rng, listed))
