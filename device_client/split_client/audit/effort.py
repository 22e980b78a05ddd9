"""The amount of work that an audit puts into each mode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts. ``sessions``: how many conversations are averaged, ascending, the first of them 1.

    ``releases``: of each of the two inputs of the distinguishing game. ``matched``: prompts that
    vocabulary matching tries one position of, with ``candidates`` tokens.
    """

    prompts: int
    questions: int
    sessions: tuple[int, ...]
    beam: int
    reply_tokens: int
    matched: int
    candidates: int
    resends: int
    releases: int


FULL = Effort(
    prompts=10_000,
    questions=100,
    sessions=(1, 4, 16),
    beam=4,
    reply_tokens=16,
    matched=30,
    candidates=32,
    resends=5,
    releases=4000,
)
QUICK = Effort(
    prompts=8,
    questions=20,
    sessions=(1, 4),
    beam=3,
    reply_tokens=4,
    matched=4,
    candidates=12,
    resends=2,
    releases=1000,
)
