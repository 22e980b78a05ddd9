"""A sequence over a session that may know documents: what it asks, takes, and does when refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from split_client.errors import ServerRefused
from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.documents.cutting import Cutter
from split_client.generation.sequence import Sequence
from split_wire.documents.chunks import Chunk, Named
from split_wire.splice import Kept, gaps
from split_wire.tiers import Inexact
from tests.split_client.generation.documents.test_cutting import CONTROL, Words, words
from tests.split_client.generation.editing.test_edits import WIDTH, embed

BOOK = [*words(200, 1), 2, *words(100, 2), 2]
SYSTEM, OTHER, QUESTION = ([CONTROL, *words(30, seed), CONTROL] for seed in (3, 4, 5))


@dataclass
class Session:
    """A session that holds tokens and knows chunks; what it was asked for."""

    finds: bool = True
    blends: bool = False
    refuses: str | None = None
    loses: int = 0
    max_rows: int = 128
    max_context: int = 4096
    interactive_rows: int = 16
    dtype: Any = "f32"
    chunks: tuple[Chunk, ...] = ()
    kept: dict[bytes, list[int]] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    taken_from: int | None = None
    asked: list[Any] = field(default_factory=list)

    def open(self, wanted: Any = None) -> None:
        """It is open."""

    def held(self, wanted: Any, start: int) -> int:
        return start

    def find(self, wanted: list[Named]) -> tuple[int, ...]:
        self.asked.append(("find", len(wanted)))
        return tuple(number for number, one in enumerate(wanted) if one.name in self.kept)

    def step(
        self, start: int, embeddings: np.ndarray, *_: Any, rows: int = 1, **__: Any
    ) -> StepOutput:
        self.tokens[start:] = embeddings[:, 0].astype(int).tolist()
        self.asked.append(("step", start, len(embeddings)))
        return self._output()

    def splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: np.ndarray,
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> StepOutput:
        self.asked.append(("splice", start, len(spans), len(embeddings)))
        if self.refuses is not None:
            raise ServerRefused(self.refuses, "of the test")
        if self.loses:
            self.loses -= 1
            raise CacheLost
        brought = embeddings[:, 0].astype(int).tolist()
        now, names = (
            self.tokens[:start],
            [sources[at : at + 16] for at in range(0, len(sources), 16)],
        )
        pairs = zip(
            gaps(start, spans, len(brought)), [*zip(spans, names, strict=True), None], strict=True
        )
        for (first, last), one in pairs:
            now += brought[first:last]
            if one is not None:
                now += self.kept[one[1]][one[0].old : one[0].old + one[0].rows]
        self.tokens, self.taken_from = now, spans[0].new
        return self._output()

    def close(self) -> None:
        self.tokens.clear()

    def _output(self) -> StepOutput:
        at = len(self.tokens) if self.taken_from is None else self.taken_from
        hidden = np.full((1, WIDTH), self.tokens[-1], np.float32)
        return StepOutput(hidden, 1, 1, tiers=Inexact(approximate=len(self.tokens) - at))


def sequence_over(session: Session) -> Sequence:
    made = Sequence(session, embed)  # type: ignore[arg-type]
    made.documents.cutter = Cutter(Words())
    made.documents.question = lambda tokens: len(tokens) - len(QUESTION)
    return made


def knowing(**others: Any) -> Session:
    """A session of a server that knows the paragraphs of the book."""
    session, text = Session(**others), [*SYSTEM, *BOOK, *QUESTION]
    documents = sequence_over(session).documents
    chunks = Cutter(Words()).chunks(text)
    for chunk, name in zip(chunks, documents.names(text), strict=True):
        session.kept[name] = text[chunk.start : chunk.end]
    return session


def test_a_known_document_is_taken_and_all_is_held_as_it_was_wanted() -> None:
    session, wanted = knowing(), [*OTHER, *BOOK, *QUESTION]
    told = sequence_over(session).cache(wanted)
    assert session.tokens == wanted
    # Two paragraphs of 201 and 101, the first 8 rows of each computed.
    assert session.asked == [
        ("find", 2),
        ("splice", 0, 2, len(OTHER) + 16),
        ("step", len(OTHER) + len(BOOK), len(QUESTION)),
    ]
    spared = told.spared
    assert (spared.moved, spared.documents, spared.mended) == (286, 286, len(OTHER) + 16)
    assert spared.inexact == Inexact(approximate=286)
    assert told.rows == len(OTHER) + 16 + len(QUESTION)


def test_the_server_is_told_where_chunks_lie_and_asked_for_none_where_nothing_is_long() -> None:
    session = Session()
    sequence = sequence_over(session)
    text = [*OTHER, *BOOK, *QUESTION]
    sequence.cache(text)
    assert session.chunks == (Chunk(32, 201), Chunk(233, 101))
    session.asked.clear()
    sequence.cache([*text, *words(20, 9)])
    assert session.asked == [("step", len(text), 20)]
    assert session.chunks == ()


@pytest.mark.parametrize("how", ["finds none", "not allowed", "no cutter"])
def test_nothing_is_taken_where_it_is_not_offered_or_not_wanted(how: str) -> None:
    session = knowing(finds=how != "finds none")
    sequence = sequence_over(session)
    if how == "not allowed":
        sequence.documents.allowed = lambda: False
    if how == "no cutter":
        sequence.documents.cutter = None
    told = sequence.cache([*OTHER, *BOOK, *QUESTION])
    assert {each[0] for each in session.asked} == {"step"}
    assert told.spared.moved == 0


def test_what_is_refused_is_computed_and_told() -> None:
    session, wanted = knowing(refuses="chunk_gone"), [*OTHER, *BOOK, *QUESTION]
    told = sequence_over(session).cache(wanted)
    assert session.tokens == wanted
    assert (told.spared.refused, told.spared.moved) == (1, 0)


def test_a_session_that_is_lost_meanwhile_is_made_again() -> None:
    session, wanted = knowing(loses=1), [*OTHER, *BOOK, *QUESTION]
    sequence = sequence_over(session)
    told = sequence.cache(wanted)
    assert session.tokens == wanted
    assert (sequence.counters.resends, told.spared.documents) == (1, 286)


def test_a_question_within_a_document_is_computed() -> None:
    session, wanted = knowing(), [*OTHER, *BOOK, *QUESTION]
    sequence = sequence_over(session)
    sequence.documents.question = lambda _: len(OTHER) + 100
    told = sequence.cache(wanted)
    assert session.tokens == wanted
    assert told.spared.documents == 92
