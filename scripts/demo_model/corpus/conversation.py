"""Samples training conversations from the facts and the generated tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random

from scripts.demo_model.corpus import names, stories, unknown
from scripts.demo_model.corpus.facts import (
    Fact,
    Phrasing,
    all_facts,
    chat_answer,
    facts_by_id,
    named_list,
    word_list,
)
from scripts.demo_model.corpus.grammar import expand, fill_numbers, normalise
from scripts.demo_model.corpus.holdout import forbidden, training_follow_ups, training_phrasings
from scripts.demo_model.corpus.surface import cased, gentle, vary

TOPIC_WEIGHTS = {
    "headline": 8,
    "product": 22,
    "parts": 15,
    "privacy": 7,
    "sampling": 7,
    "smalltalk": 21,
    "world": 7,
    "banking": 7,
    "relations": 13,
    "unknown": 9,
    "story": 3,
    "name": 6,
    "repeat": 4,
    "again": 1,
}
PINNED_SHARE = 0.15
MULTI_TURN_SHARE = 0.45
SYSTEM_SHARE = 0.15
AGAIN = (
    "say that again",
    "repeat that",
    "can you repeat that",
    "again please",
    "once more",
    "please repeat",
    "what did you say",
    "say it again",
    "repeat your answer",
    "come again",
)


@dataclass
class Conversation:
    """Messages in order: an optional system text, then user and assistant in turns."""

    system: str = ""
    turns: list[tuple[str, str]] = field(default_factory=list)

    def messages(self) -> list[dict[str, str]]:
        """The form that chat templates take."""
        result = [{"role": "system", "content": self.system}] if self.system else []
        for question, answer in self.turns:
            result.append({"role": "user", "content": question})
            result.append({"role": "assistant", "content": answer})
        return result


@cache
def _facts_of(topic: str) -> tuple[Fact, ...]:
    if topic == "headline":
        return tuple(facts_by_id()[name] for name in named_list("headlines"))
    return tuple(fact for fact in all_facts() if fact.topic == topic)


@cache
def _pool(fact_id: str) -> tuple[tuple[Phrasing, ...], tuple[Phrasing, ...]]:
    """Training phrasings of a fact: from the shared templates, and its own."""
    kept = training_phrasings(facts_by_id()[fact_id])
    shared = tuple(p for p in kept if "{x}" in p.unit or "{b}" in p.unit)
    return shared, tuple(p for p in kept if p not in shared)


def pick_question(fact: Fact, rng: Random) -> str:
    """A training phrasing of ``fact`` in plain lower case."""
    shared, own = _pool(fact.id)
    if rng.random() < PINNED_SHARE:
        return rng.choice(rng.choice([p for p in (*shared, *own) if p.pinned]).texts)
    pool = own if own and (not shared or rng.random() < 0.55) else shared
    return rng.choice(rng.choice(pool).texts)


class Sampler:
    """Draws conversations; all randomness comes from ``rng``."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._topics = list(TOPIC_WEIGHTS)
        self._weights = list(TOPIC_WEIGHTS.values())

    def conversation(self) -> Conversation:
        """One turn, or 2 to 6 turns in ``MULTI_TURN_SHARE`` of the draws."""
        turns = 1
        if self._rng.random() < MULTI_TURN_SHARE:
            turns = self._rng.choice((2, 2, 2, 3, 3, 4, 5, 6))
        return self.with_turns(turns)

    def with_turns(self, count: int) -> Conversation:
        """A conversation of ``count`` turns."""
        rng = self._rng
        chat = Conversation()
        if rng.random() < SYSTEM_SHARE:
            chat.system = rng.choice(word_list("systems"))
        state = _State()
        while len(chat.turns) < count:
            question, answer = self._turn(chat, state)
            chat.turns.append((question, answer))
        return chat

    def _turn(self, chat: Conversation, state: _State) -> tuple[str, str]:
        rng = self._rng
        last = state.last
        if state.name and rng.random() < 0.2:
            return self._name(state)
        if last is not None and last.family and rng.random() < 0.45:
            return self._follow_up(last, state)
        if state.fact_ids and rng.random() < 0.08:
            repeated = rng.choice(state.fact_ids)
            return self._ask(facts_by_id()[repeated], state)
        topic = rng.choices(self._topics, self._weights)[0]
        if topic == "again" and chat.turns:
            return gentle(rng.choice(AGAIN), rng), chat.turns[-1][1]
        if topic in ("unknown", "again"):
            return self._unknown(state)
        if topic in ("story", "name", "repeat"):
            state.last = None
            generated = {"story": self._story, "name": self._name, "repeat": self._repeat}
            return generated[topic](state)
        return self._ask(rng.choice(_facts_of(topic)), state)

    def _allowed(self, fact: Fact) -> str:
        """A varied question that equals no held-out and no blind one."""
        while True:
            text = vary(fill_numbers(pick_question(fact, self._rng), self._rng), self._rng)
            if normalise(text) not in forbidden():
                return text

    def _ask(self, fact: Fact, state: _State) -> tuple[str, str]:
        state.remember(fact)
        return self._allowed(fact), chat_answer(fact)

    def _follow_up(self, last: Fact, state: _State) -> tuple[str, str]:
        rng = self._rng
        kin = [f for f in _kin(last.family) if f.id != last.id]
        fact = rng.choice(kin)
        pool = training_follow_ups(fact)
        if not pool:
            return self._ask(fact, state)
        state.remember(fact)
        return gentle(rng.choice(rng.choice(pool).texts), rng), chat_answer(fact)

    def _unknown(self, state: _State) -> tuple[str, str]:
        state.last = None
        while True:
            text = vary(unknown.question(self._rng), self._rng)
            if normalise(text) not in forbidden():
                return text, unknown.ANSWER

    def _story(self, state: _State) -> tuple[str, str]:
        del state
        rng = self._rng
        hero = rng.choice(stories.HEROES) if rng.random() < 0.7 else names.invented(rng)
        if rng.random() < 0.4:
            text = rng.choice(expand(rng.choice(stories.PLAIN_PATTERNS)))
            hero = rng.choice(stories.HEROES)
        else:
            text = rng.choice(expand(rng.choice(stories.STORY_PATTERNS)))
            text = text.replace("{h}", stories.article(hero))
        return vary(text, rng), stories.tell(hero, rng)

    def _name(self, state: _State) -> tuple[str, str]:
        rng = self._rng
        if state.name is None and rng.random() < 0.8:
            state.name = names.person(rng)
            text = gentle(rng.choice(names.INTRODUCTIONS), rng)
            shown = state.name if rng.random() < 0.9 else state.name.lower()
            text = text.replace("{n}", shown).replace("{N}", shown)
            return text, names.greeting(state.name)
        return gentle(rng.choice(names.UNKNOWN_PATTERNS), rng), names.recall(state.name)

    def _repeat(self, state: _State) -> tuple[str, str]:
        del state
        words = names.words(self._rng)
        text = self._rng.choice(names.REPEAT_PATTERNS)
        return (text if self._rng.random() < 0.5 else cased(text)).replace("{w}", words), words


@dataclass
class _State:
    """The facts that later turns may refer to."""

    last: Fact | None = None
    name: str | None = None
    fact_ids: list[str] = field(default_factory=list)

    def remember(self, fact: Fact) -> None:
        self.last = fact
        self.fact_ids.append(fact.id)


@cache
def _kin(family: str) -> tuple[Fact, ...]:
    return tuple(fact for fact in all_facts() if fact.family == family)
