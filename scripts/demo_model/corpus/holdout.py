"""The phrasings that are never trained.

A phrasing unit (one question of a hand-written list, or one definition template together with one
term) is held out when the hash of its name says so. No training question may equal a held-out or a
blind one in its normalised form.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.demo_model.corpus.facts import Fact, Phrasing, all_facts
from scripts.demo_model.corpus.grammar import normalise

PERCENT = 7
BLIND = Path(__file__).parent / "blind.json"


def is_held_out(phrasing: Phrasing) -> bool:
    """True for about ``PERCENT`` of the units, decided by their name alone."""
    if phrasing.pinned:
        return False
    digest = hashlib.sha256(phrasing.unit.encode()).digest()
    return int.from_bytes(digest[:4], "big") % 100 < PERCENT


@dataclass(frozen=True)
class BlindQuestion:
    """A conversation whose last answer is judged; any of the ``expect`` facts is right."""

    turns: tuple[str, ...]
    expect: tuple[str, ...]


@cache
def blind_questions() -> tuple[BlindQuestion, ...]:
    """The list in ``blind.json``."""
    entries = json.loads(BLIND.read_text("utf-8")) if BLIND.exists() else []
    return tuple(BlindQuestion(tuple(e["turns"]), tuple(e["expect"])) for e in entries)


@cache
def forbidden() -> frozenset[str]:
    """Normalised questions that training must not contain."""
    held = {
        normalise(text)
        for fact in all_facts()
        for phrasing in fact.phrasings
        if is_held_out(phrasing)
        for text in phrasing.texts
    }
    blind = {normalise(q.turns[-1]) for q in blind_questions() if len(q.turns) == 1}
    return frozenset(held | blind)


def training_phrasings(fact: Fact) -> list[Phrasing]:
    """Phrasings of a fact without held-out units and forbidden texts."""
    return _kept(fact.phrasings)


def training_follow_ups(fact: Fact) -> list[Phrasing]:
    """Follow-up phrasings that may be trained."""
    return [p for p in fact.follow_ups if not is_held_out(p)]


def _kept(phrasings: list[Phrasing]) -> list[Phrasing]:
    bad = forbidden()
    kept = []
    for phrasing in phrasings:
        if is_held_out(phrasing):
            continue
        texts = tuple(text for text in phrasing.texts if normalise(text) not in bad)
        if texts:
            kept.append(Phrasing(phrasing.unit, texts, phrasing.pinned))
    return kept
