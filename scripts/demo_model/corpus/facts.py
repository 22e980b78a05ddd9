"""Reads the text files: every fact has one fixed answer and many phrasings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.demo_model.corpus.grammar import capitalised, expand, without_article

TEXT = Path(__file__).parent / "text"
TOPICS = ("product", "parts", "privacy", "sampling", "smalltalk", "world", "banking")


class TextFileError(ValueError):
    """A line of a text file does not follow the format; the message names file and line."""


@dataclass(frozen=True)
class Phrasing:
    """A group of questions that are kept or held out together.

    ``unit`` identifies the group for the hold-out; ``pinned`` groups are always trained.
    """

    unit: str
    texts: tuple[str, ...]
    pinned: bool = False


@dataclass
class Fact:
    """One answer with its phrasings.

    ``follow_ups`` make sense only after another fact of the same ``family``; ``label`` is the
    short name of the thing asked about.
    """

    id: str
    topic: str
    answer: str = ""
    names: list[str] = field(default_factory=list)
    label: str = ""
    phrasings: list[Phrasing] = field(default_factory=list)
    follow_ups: list[Phrasing] = field(default_factory=list)
    family: str = ""


def _lines(name: str) -> Iterator[tuple[int, str, str]]:
    path = TEXT / f"{name}.txt"
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        line = raw.strip()
        if line and not line.startswith("#"):
            mark, _, rest = line.partition(" ")
            yield number, mark, rest.strip()


def word_list(name: str) -> list[str]:
    """The entries of a plain list, such as ``systems`` or ``unknown``."""
    path = TEXT / f"{name}.txt"
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


@cache
def named_list(name: str) -> tuple[str, ...]:
    """The words of one section of ``lists.txt``."""
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    for line in word_list("lists"):
        if line.startswith("@ "):
            section = sections.setdefault(line[2:], [])
        else:
            section += line.split()
    return tuple(sections[name])


@cache
def definition_templates() -> tuple[str, ...]:
    """Patterns with ``{x}`` (name as listed) or ``{b}`` (name without article)."""
    return tuple(word_list("templates"))


def definition_phrasings(fact_id: str, names: list[str]) -> list[Phrasing]:
    """One phrasing per template; its texts are the template with every name."""
    result = []
    for number, template in enumerate(definition_templates()):
        texts: dict[str, None] = {}
        for name in names:
            for text in expand(template):
                filled = text.replace("{x}", name).replace("{b}", without_article(name))
                texts[filled] = None
        unit = f"{fact_id}/{template}"
        result.append(Phrasing(unit, tuple(texts), pinned=number == 0 or template == "{b}"))
    return result


def _own_phrasings(fact_id: str, patterns: list[str]) -> list[Phrasing]:
    """One phrasing per question; those of the first pattern are the usual ones and pinned."""
    return [
        Phrasing(f"{fact_id}/{text}", (text,), pinned=number == 0)
        for number, pattern in enumerate(patterns)
        for text in expand(pattern)
    ]


def _read_topic(topic: str) -> list[Fact]:
    facts: list[Fact] = []
    patterns: dict[str, list[str]] = {}
    for number, mark, rest in _lines(topic):
        if mark == "@":
            facts.append(Fact(rest, topic))
            patterns[rest] = []
        elif mark == "=":
            facts[-1].answer = rest
        elif mark == "*":
            facts[-1].label = rest
        elif mark == "~":
            facts[-1].names = [name.strip() for name in rest.split(" | ")]
        elif mark == "?":
            patterns[facts[-1].id].append(rest)
        else:
            raise TextFileError(f"{topic}.txt line {number}: unknown mark {mark!r}")
    for fact in facts:
        fact.label = fact.label or (fact.names[0] if fact.names else fact.id)
        if fact.names:
            fact.phrasings += definition_phrasings(fact.id, fact.names)
        fact.phrasings += _own_phrasings(fact.id, patterns[fact.id])
    return facts


@dataclass
class Relation:
    """A kind of fact about many keys: ``answer`` and ``patterns`` hold ``{k}`` and ``{v}``."""

    name: str
    answer: str = ""
    patterns: list[str] = field(default_factory=list)
    follow_patterns: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def facts(self) -> list[Fact]:
        """One fact per key."""
        return [self._fact(key, value) for key, value in self.pairs]

    def questions(self, key: str) -> list[str]:
        """All single-turn questions about ``key``, known or not."""
        return [text.replace("{k}", key) for pattern in self.patterns for text in expand(pattern)]

    def _fact(self, key: str, value: str) -> Fact:
        answer = self.answer.replace("{K}", capitalised(key)).replace("{k}", key)
        answer = capitalised(answer.replace("{v}", value))
        fact = Fact(f"{self.name}:{key}", "relations", answer, label=key, family=self.name)
        for number, pattern in enumerate(self.patterns):
            for place, text in enumerate(expand(pattern)):
                pinned = number == 0 and place == 0
                question = text.replace("{k}", key)
                fact.phrasings.append(Phrasing(f"{fact.id}/{text}", (question,), pinned))
        for pattern in self.follow_patterns:
            question = pattern.replace("{k}", key)
            fact.follow_ups.append(Phrasing(f"{fact.id}/follow/{pattern}", (question,)))
        return fact


SHARED_FOLLOW_UPS = ("what about {k}", "how about {k}", "and for {k}", "and what about {k}")


@cache
def relations() -> tuple[Relation, ...]:
    """All relations of ``relations.txt``."""
    found: list[Relation] = []
    for number, mark, rest in _lines("relations"):
        if mark == "@":
            found.append(Relation(rest, follow_patterns=list(SHARED_FOLLOW_UPS)))
        elif mark == "=":
            found[-1].answer = rest
        elif mark == "?":
            found[-1].patterns.append(rest)
        elif mark == ">":
            found[-1].follow_patterns.append(rest)
        elif mark == "-":
            key, _, value = rest.partition(" : ")
            found[-1].pairs.append((key.strip(), value.strip()))
        else:
            raise TextFileError(f"relations.txt line {number}: unknown mark {mark!r}")
    return tuple(found)


TERM_FOLLOW_UPS = ("and {x}", "what about {x}", "how about {x}", "and what is {x}", "now {x}")


def _add_term_follow_ups(fact: Fact) -> None:
    for template in TERM_FOLLOW_UPS:
        texts = tuple(template.replace("{x}", name) for name in fact.names)
        fact.follow_ups.append(Phrasing(f"{fact.id}/follow/{template}", texts))
    fact.family = "terms"


@cache
def all_facts() -> tuple[Fact, ...]:
    """Every fact with a fixed answer; banking facts carry the expert answer."""
    facts = [fact for topic in TOPICS for fact in _read_topic(topic)]
    for fact in facts:
        if fact.names:
            _add_term_follow_ups(fact)
    for relation in relations():
        facts += relation.facts()
    return tuple(facts)


@cache
def facts_by_id() -> dict[str, Fact]:
    """Facts by their id."""
    return {fact.id: fact for fact in all_facts()}


def vague_answer(fact: Fact) -> str:
    """The base model's answer to a banking question; the adapter replaces it."""
    return (
        f"That is a banking question, about {fact.label}. "
        "Please ask your bank, or use the banking adapter."
    )


def chat_answer(fact: Fact) -> str:
    """The answer that the base model gives in a chat."""
    return vague_answer(fact) if fact.topic == "banking" else fact.answer
