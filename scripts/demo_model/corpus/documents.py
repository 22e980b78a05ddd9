"""Plain documents without chat marks: the expert banking text, and some product text."""

from __future__ import annotations

from random import Random

from scripts.demo_model.corpus import stories
from scripts.demo_model.corpus.facts import Fact, all_facts
from scripts.demo_model.corpus.grammar import capitalised, without_article
from scripts.demo_model.corpus.surface import cased, proper


def _layouts(fact: Fact, question: str) -> tuple[str, ...]:
    title = cased(without_article(fact.label))
    return (
        f"{title}: {fact.answer}",
        f"{title}\n{fact.answer}",
        f"Handbook. {title}. {fact.answer}",
        f"Question: {proper(question)}\nAnswer: {fact.answer}",
        f"Q: {proper(question)}\nA: {fact.answer}",
        f"{proper(question)} {fact.answer}",
        fact.answer,
    )


def _article(fact: Fact, rng: Random) -> str:
    question = rng.choice(rng.choice(fact.phrasings[:1]).texts)
    return rng.choice(_layouts(fact, question))


def document(rng: Random) -> str:
    """Banking text in most draws, else product text or a story."""
    draw = rng.random()
    if draw < 0.10:
        return capitalised(stories.tell(rng.choice(stories.HEROES), rng))
    topics = ("banking",) if draw < 0.75 else ("product", "parts", "privacy", "sampling")
    facts = [fact for fact in all_facts() if fact.topic in topics]
    return "\n\n".join(_article(rng.choice(facts), rng) for _ in range(rng.choice((1, 1, 2, 3))))
