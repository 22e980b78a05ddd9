"""Questions for the evaluation: held-out phrasings, follow-ups, late turns, blind questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from scripts.demo_model.corpus import names, stories, unknown
from scripts.demo_model.corpus.conversation import Conversation, Sampler, pick_question
from scripts.demo_model.corpus.facts import (
    Fact,
    Phrasing,
    all_facts,
    chat_answer,
    facts_by_id,
    word_list,
)
from scripts.demo_model.corpus.grammar import expand, fill_numbers, normalise
from scripts.demo_model.corpus.holdout import blind_questions, is_held_out, training_phrasings
from scripts.demo_model.corpus.surface import affixes, gentle, proper

LATE_CASES = 150
STORY_CASES = 30
NAME_CASES = 40
UNKNOWN_CASES = 40


@dataclass(frozen=True)
class Case:
    """A conversation that ends with a question, and the answers that are right for it."""

    kind: str
    topic: str
    chat: Conversation
    question: str
    expected: tuple[str, ...]
    exact: bool = True

    def messages(self) -> list[dict[str, str]]:
        """Input of the chat template."""
        return [*self.chat.messages(), {"role": "user", "content": self.question}]

    def judge(self, reply: str) -> bool:
        """Exact match; stories must name their hero and end."""
        if self.exact:
            return reply.strip() in self.expected
        return all(part in reply for part in self.expected)


def _surface(text: str, rng: Random) -> str:
    text = fill_numbers(text, rng)
    return proper(text) if rng.random() < 0.6 else gentle(text, rng)


def _opening(rng: Random) -> Conversation:
    return Conversation(rng.choice(word_list("systems")) if rng.random() < 0.15 else "")


def _held(phrasings: list[Phrasing]) -> list[Phrasing]:
    return [phrasing for phrasing in phrasings if is_held_out(phrasing)]


@cache
def _trained_texts() -> frozenset[str]:
    kept = (p for fact in all_facts() for p in training_phrasings(fact))
    return frozenset(normalise(text) for phrasing in kept for text in phrasing.texts)


def _made_by_filler(text: str) -> bool:
    """True if a filler such as "and" before a trained question gives the same text."""
    text = normalise(text)
    fillers = (normalise(before) + " " for before in affixes()[0])
    return any(text.startswith(f) and text.removeprefix(f) in _trained_texts() for f in fillers)


def unseen_follow_ups(fact: Fact) -> list[Phrasing]:
    """Held-out follow-ups of a fact whose text never arises in another way either."""
    return [p for p in _held(fact.follow_ups) if not any(map(_made_by_filler, p.texts))]


def _single(fact: Fact, phrasing: Phrasing, rng: Random) -> Case:
    question = _surface(rng.choice(phrasing.texts), rng)
    return Case("phrasing", fact.topic, _opening(rng), question, (chat_answer(fact),))


def _follow_up(fact: Fact, phrasing: Phrasing, rng: Random) -> Case:
    kin = [f for f in all_facts() if f.family == fact.family and f.id != fact.id]
    before = rng.choice(kin)
    chat = _opening(rng)
    chat.turns.append((proper(pick_question(before, rng)), chat_answer(before)))
    question = _surface(rng.choice(phrasing.texts), rng)
    return Case("follow-up", fact.topic, chat, question, (chat_answer(fact),))


def _late(case: Case, rng: Random) -> Case:
    chat = Sampler(rng).with_turns(3)
    return Case("fourth turn", case.topic, chat, case.question, case.expected)


def held_out_cases(seed: int = 11) -> list[Case]:
    """Every held-out phrasing once, every held-out follow-up once, and some on a fourth turn."""
    rng = Random(seed)
    singles = [_single(f, p, rng) for f in all_facts() for p in _held(f.phrasings)]
    follow = [_follow_up(f, p, rng) for f in all_facts() for p in unseen_follow_ups(f)]
    late = [_late(case, rng) for case in rng.sample(singles, LATE_CASES)]
    return [*singles, *follow, *late, *_unknown_cases(rng)]


def _unknown_cases(rng: Random) -> list[Case]:
    words = unknown.held_words()
    questions = (unknown.define(rng.choice(words), rng) for _ in range(UNKNOWN_CASES))
    return [
        Case("unknown word", "unknown", _opening(rng), proper(q), (unknown.ANSWER,))
        for q in questions
    ]


def task_cases(seed: int = 12) -> list[Case]:
    """Copying tasks with new names, and stories; reported apart from the facts."""
    rng = Random(seed)
    return [*_name_cases(rng), *_story_cases(rng)]


def _name_cases(rng: Random) -> list[Case]:
    cases = []
    for _ in range(NAME_CASES):
        name = names.invented(rng).capitalize()
        chat = Sampler(rng).with_turns(1)
        said = rng.choice(names.INTRODUCTIONS).replace("{n}", name)
        chat.turns.append((said, names.greeting(name)))
        question = proper(rng.choice(names.UNKNOWN_PATTERNS))
        cases.append(Case("name", "tasks", chat, question, (names.recall(name),)))
    return cases


def _story_cases(rng: Random) -> list[Case]:
    cases = []
    for _ in range(STORY_CASES):
        hero = rng.choice(stories.HEROES)
        text = rng.choice(expand(rng.choice(stories.STORY_PATTERNS)))
        question = proper(text.replace("{h}", stories.article(hero)))
        expected = ("Once upon a time", f" {hero} ", "The end.")
        cases.append(Case("story", "tasks", Conversation(), question, expected, exact=False))
    return cases


def blind_cases() -> list[Case]:
    """The blind list; earlier turns are answered by the model itself, not by a reference."""
    cases = []
    for entry in blind_questions():
        facts = [facts_by_id()[name] for name in entry.expect if name != "unknown"]
        expected = [chat_answer(fact) for fact in facts]
        if "unknown" in entry.expect:
            expected.append(unknown.ANSWER)
        topic = facts[0].topic if facts else "unknown"
        chat = Conversation(turns=[(turn, "") for turn in entry.turns[:-1]])
        cases.append(Case("blind", topic, chat, entry.turns[-1], tuple(expected)))
    return cases
