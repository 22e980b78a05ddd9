"""A sequence over a session that may keep what lies behind an edit."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from split_client.errors import ServerRefused
from split_client.generation.backend import CacheLost, OnlyAllRows, StepOutput
from split_client.generation.sequence import Sequence
from split_wire.splice import Kept, gaps
from split_wire.tiers import Inexact

WIDTH = 4


@dataclass
class Session:
    """A session that holds tokens, and remembers what it was asked for."""

    splices: bool = True
    blends: bool = False
    refuses: str | None = None
    loses: bool = False
    max_rows: int = 256
    max_context: int = 4096
    interactive_rows: int = 16
    dtype: Any = "f32"
    held_tokens: list[int] = field(default_factory=list)
    moved_at: int | None = None
    steps: list[tuple[Any, ...]] = field(default_factory=list)
    probes: list[int] = field(default_factory=list)

    def open(self, wanted: Any = None) -> None:
        """It is open."""

    def held(self, wanted: Any, start: int) -> int:
        self.probes.append(start)
        return start

    def step(
        self,
        start: int,
        embeddings: np.ndarray,
        attention: Any = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        if rows > len(embeddings):
            raise OnlyAllRows
        tokens = embeddings[:, 0].astype(int).tolist()
        self.held_tokens[start:] = tokens
        if self.moved_at is not None and start <= self.moved_at:
            self.moved_at = None
        self.steps.append(("step", start, len(tokens)))
        return self._output(embeddings[-rows:])

    def splice(
        self, start: int, spans: tuple[Kept, ...], embeddings: np.ndarray, blend: float = 0.0
    ) -> StepOutput:
        if self.refuses is not None:
            raise ServerRefused(self.refuses, "of the test", retryable=False)
        if self.loses:
            self.loses = False
            self.held_tokens.clear()
            raise CacheLost
        old, tokens = list(self.held_tokens), embeddings[:, 0].astype(int).tolist()
        new = old[:start]
        for index, (first, last) in enumerate(gaps(start, spans, len(tokens))):
            if blend:
                new += tokens
                reach = start + len(tokens)
                for span in spans:
                    new += old[span.old : span.old + span.rows] if span.new >= reach else []
                break
            new += tokens[first:last]
            if index < len(spans):
                new += old[spans[index].old : spans[index].old + spans[index].rows]
        self.held_tokens, self.moved_at = new, spans[0].new
        self.steps.append(("splice", start, len(tokens), sum(span.rows for span in spans)))
        return self._output(embeddings[-1:])

    def _output(self, rows: np.ndarray) -> StepOutput:
        at = self.moved_at
        inexact = Inexact(approximate=0 if at is None else len(self.held_tokens) - at)
        return StepOutput(rows.astype(np.float32), 1, 1, tiers=inexact)

    def close(self) -> None:
        """It ends."""


def embed(tokens: list[int]) -> np.ndarray:
    return np.repeat(np.array(tokens, np.float32)[:, None], WIDTH, 1)


def text(count: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)  # noqa: S311 - tokens, not a secret
    return [draw.randrange(50_000) for _ in range(count)]


def edited(old: list[int]) -> list[int]:
    return [*old[:50], 1, 2, 3, *old[60:], *text(40, 9)]


def with_question(sequence: Sequence, wanted: list[int]) -> None:
    sequence.edits.question = lambda tokens: wanted.index(text(40, 9)[0])


def test_what_lies_behind_an_edit_is_kept_and_the_account_says_so() -> None:
    session = Session()
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    wanted = edited(old)
    with_question(sequence, wanted)
    assert sequence.edits.reusable(wanted) == 332
    told = sequence.extend(wanted)
    assert session.held_tokens == wanted
    assert session.steps[2:] == [("splice", 50, 11, 332), ("step", 393, 40)]
    assert (told.rows, told.spared.held, told.spared.moved, told.spared.mended) == (
        51,
        382,
        332,
        11,
    )
    assert told.spared.inexact == Inexact(approximate=332)
    assert told.hidden[0] == wanted[-1]
    assert sequence.counters.rows_moved == 332


def test_what_was_moved_is_not_asked_for_by_its_names() -> None:
    session = Session()
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    wanted = edited(old)
    with_question(sequence, wanted)
    sequence.extend(wanted)
    session.probes.clear()
    later = [*wanted, *text(60, 5)]
    sequence.extend(later)
    assert session.probes == []
    assert sequence.extend([*later, 7]).spared.inexact.total > 0
    # Cut back below it, the names are those of the tokens again.
    sequence.extend([*wanted[:40], *text(80, 6)])
    assert session.probes == [40]
    assert session.held_tokens[:40] == wanted[:40]


def test_where_nothing_can_be_moved_all_behind_the_edit_is_sent() -> None:
    session = Session(splices=False)
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    told = sequence.extend(wanted := edited(old))
    assert (told.rows, told.spared.moved) == (len(wanted) - 50, 0)
    assert session.held_tokens == wanted


def test_rows_that_depend_on_more_than_their_tokens_are_sent() -> None:
    session = Session()
    sequence = Sequence(session, embed, lambda tokens, start, stop: embed(tokens[start:stop]))
    old = text(400)
    sequence.extend(old)
    assert sequence.extend(edited(old)).spared.moved == 0


def test_an_edit_that_is_refused_is_told_and_its_rows_are_sent() -> None:
    session = Session(refuses="cache_full")
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    told = sequence.extend(wanted := edited(old))
    assert session.held_tokens == wanted
    assert (told.spared.refused, told.spared.moved) == (1, 0)
    assert told.spared.inexact.total == 0
    assert sequence.counters.edits_refused == 1


def test_an_edit_within_which_the_session_is_lost_is_sent_plainly_to_the_next_one() -> None:
    session = Session(loses=True)
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    told = sequence.extend(wanted := edited(old))
    assert session.held_tokens == wanted
    assert (told.rows, told.spared.moved, sequence.counters.resends) == (len(wanted), 0, 1)


def test_a_long_insertion_goes_in_several_steps() -> None:
    session = Session()
    sequence = Sequence(session, embed)
    old = text(400)
    sequence.extend(old)
    wanted = [*old[:50], *text(600, 3), *old[50:], *text(40, 9)]
    with_question(sequence, wanted)
    told = sequence.extend(wanted)
    assert session.held_tokens == wanted
    assert [step[2] for step in session.steps if step[0] == "splice"] == [256, 256, 96]
    assert told.spared.moved == 342


def test_with_a_blend_all_rows_travel_and_a_share_of_the_kept_ones_counts_as_computed() -> None:
    session = Session(blends=True, max_rows=512)
    sequence = Sequence(session, embed)
    sequence.edits.blend = 0.15
    old = text(400)
    sequence.extend(old)
    wanted = edited(old)
    with_question(sequence, wanted)
    told = sequence.extend(wanted)
    assert session.held_tokens == wanted
    # One message has the rows of all positions from the edit to where the question begins.
    assert session.steps[1:] == [("splice", 50, 343, 332), ("step", 393, 40)]
    assert (told.spared.moved, told.spared.mended) == (332 - 50, 11 + 50)
    assert told.rows == 11 + 50 + 40
    assert told.spared.inexact == Inexact(approximate=282)


def test_without_a_blend_where_the_server_takes_none() -> None:
    session = Session(max_rows=512)
    sequence = Sequence(session, embed)
    sequence.edits.blend = 0.15
    old = text(400)
    sequence.extend(old)
    wanted = edited(old)
    with_question(sequence, wanted)
    assert sequence.extend(wanted).spared.moved == 332
    assert session.held_tokens == wanted
    assert session.steps[-2:] == [("splice", 50, 11, 332), ("step", 393, 40)]


def test_a_blend_of_more_rows_than_a_step_takes_goes_in_several() -> None:
    session = Session(blends=True, max_rows=100)
    sequence = Sequence(session, embed)
    sequence.edits.blend = 0.1
    old = text(400)
    sequence.extend(old)
    began = len(session.steps)
    wanted = [*old[:50], 1, 2, 3, *old[60:200], *text(30, 4), *old[220:], *text(40, 9)]
    with_question(sequence, wanted)
    kept = 140 - 8 + 180 - 8
    assert sequence.edits.reusable(wanted) == kept
    told = sequence.extend(wanted)
    assert session.held_tokens == wanted
    splices = [step for step in session.steps[began:] if step[0] == "splice"]
    assert [(start, rows) for _, start, rows, _ in splices] == [
        (50, 100),
        (150, 100),
        (250, 100),
        (350, 53),
    ]
    # Of 89, 43 and 42, 88 and 42 kept rows a tenth each, rounded up.
    assert told.spared.moved == kept - told.spared.mended + (3 + 8 + 30 + 8)
    assert kept / 10 <= kept - told.spared.moved <= kept / 10 + 4
