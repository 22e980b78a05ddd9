"""Chunks on the wire: what is refused, and that a name says what the rows are and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.documents.chunks import (
    LONGEST,
    MOST_CHUNKS,
    SHORTEST,
    Chunk,
    Named,
    chunk_name,
    chunks_field,
    named,
)
from split_wire.documents.finding import Find, Found
from split_wire.errors import MalformedMessage
from split_wire.messages import Close, Splice, Step
from split_wire.session import Run, SessionState, fingerprint
from split_wire.splice import Kept, pieces, spans_field, spliced
from split_wire.tensor import Tensor

WIDTH, LIMIT, NAME = 2, 1 << 20, b"n" * 16


def rows(count: int, seed: int = 0) -> Tensor:
    drawn = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return Tensor.from_f32(drawn, "f32")


@pytest.mark.parametrize(
    "chunks",
    [
        {},
        [3],
        [[0]],
        [[0, 64, 1]],
        [[0, 64.0]],
        [[True, 64]],
        [[-1, 64]],
        [[2**53, 64]],
        [[0, SHORTEST - 1]],
        [[0, LONGEST + 1]],
        [[100, 64], [0, 64]],
        [[0, 64], [63, 64]],
        [[64 * at, 64] for at in range(MOST_CHUNKS + 1)],
    ],
)
def test_chunks_that_are_none_are_refused(chunks: Any) -> None:
    with pytest.raises(MalformedMessage, match="chunk"):
        chunks_field(chunks)


def test_a_message_brings_its_chunks_and_names_and_comes_back_as_it_was() -> None:
    chunks = (Chunk(3, 64), Chunk(67, 100))
    step = Step("s", 1, 0, b"p" * 16, rows(80), chunks=chunks)
    spans = (Kept(8, 20, 56), Kept(8, 90, 92))
    splice = Splice("s", 1, 4, b"p" * 16, rows(40), spans=spans, sources=NAME * 2, chunks=chunks)
    for message in (step, splice, Find("s", chunks, NAME * 2), Close("s", False, NAME)):
        assert decode_client_message(encode_message(message), LIMIT) == message
    for told in (Found("s", (0, 1)), Found("s")):
        assert decode_server_message(encode_message(told), LIMIT) == told


@pytest.mark.parametrize(
    "message",
    [
        Step("s", 1, 0, b"p" * 16, rows(3), chunks=(Chunk(3, 64),)),
        Step("s", 1, 70, b"p" * 16, rows(3), chunks=(Chunk(3, 64),)),
        Find("s", (), b""),
        Find("s", (Chunk(0, 64),), NAME * 2),
        Close("s", False, NAME[:-1]),
        Splice("s", 1, 0, b"p" * 16, rows(20), spans=(Kept(0, 8, 9),), sources=NAME * 2),
        Splice("s", 1, 0, b"p" * 16, rows(20), spans=(Kept(1000, 8, 25),), sources=NAME),
    ],
)
def test_a_message_with_chunks_that_do_not_fit_it_is_refused(message: Any) -> None:
    with pytest.raises(MalformedMessage):
        decode_client_message(encode_message(message), LIMIT)


@pytest.mark.parametrize("known", [(1, 1), (2, 1), (MOST_CHUNKS,)])
def test_an_answer_that_names_no_chunks_in_order_is_refused(known: tuple[int, ...]) -> None:
    with pytest.raises(MalformedMessage):
        decode_server_message(encode_message(Found("s", known)), LIMIT)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=9), st.integers(0, 60))
def test_a_chunk_has_one_name_however_its_rows_come_and_wherever_they_lie(
    sizes: list[int], start: int
) -> None:
    text = rows(sum(sizes))
    chunks = [Chunk(start + at, 70) for at in range(5, text.rows - 75, 75)]
    begun, found, at = None, list[Named](), 0
    for size in sizes:
        some, begun = named(begun, [(start + at, text.part(at, at + size))], chunks)
        found, at = found + some, at + size
    assert [each.chunk for each in found] == chunks
    for each in found:
        first = each.chunk.start - start
        assert each.name == chunk_name(text.part(first, first + 70))
    assert len({each.name for each in found}) == len(found)


def test_a_chunk_of_which_rows_are_missing_or_were_replaced_has_no_name() -> None:
    text, chunk = rows(100), Chunk(10, 80)
    assert named(None, [(20, text.part(20, 100))], [chunk]) == ([], None)
    _, begun = named(None, [(0, text.part(0, 50))], [chunk])
    assert begun is not None
    for first in (49, 51):
        assert named(begun, [(first, text.part(first, 100))], [chunk]) == ([], None)
    assert named(begun, [], [chunk]) == ([], None)
    [found], left = named(begun, [(50, text.part(50, 100))], [chunk])
    assert (found.name, left) == (chunk_name(text.part(10, 90)), None)


def test_a_session_forgets_what_was_begun_when_a_step_fails_or_another_comes_in_between() -> None:
    chunk, text = Chunk(0, 64), rows(64)

    def told(between: str) -> bool:
        state = SessionState(PrefixChain("m"), WIDTH, 512, 4096)
        run = admitted(state, 1, 0, text.part(0, 40), chunk)
        state.complete(run, b"reply")
        if between == "failed":
            state.fail(admitted(state, 2, 40, text.part(40, 64), chunk), 40)
        if between == "restored":
            state.replaced()
        run = admitted(state, 2, 40, text.part(40, 64), chunk)
        return [each.name for each in run.chunks] == [chunk_name(text)]

    assert told("nothing")
    assert not told("failed")
    assert not told("restored")


def admitted(state: SessionState, number: int, start: int, brought: Tensor, *chunks: Chunk) -> Run:
    step = Step("s", number, start, state._chain.at(start), brought, chunks=chunks)
    run = state.admit(step, fingerprint(bytes([number])))
    assert isinstance(run, Run)
    return run


def test_rows_that_a_splice_brings_name_chunks_and_rows_that_a_blend_picks_do_not() -> None:
    spans, brought = (Kept(8, 84, 40),), rows(90)
    found = pieces(4, spans, brought)
    assert [(at, part.rows) for at, part in found] == [(4, 80), (124, 10)]
    [only], _ = named(None, found, [Chunk(10, 70), Chunk(80, 64)])
    assert only == Named(Chunk(10, 70), chunk_name(brought.part(6, 76)))
    assert pieces(4, spans, brought, 0.1) == []


def test_positions_behind_chunks_are_named_by_which_they_are() -> None:
    chain, spans, brought = PrefixChain("m"), (Kept(8, 20, 40),), rows(30)
    chain.replace(0, chain.following(0, rows(4)))
    of_chunks = [spliced(chain, 4, spans, brought, 0.0, bytes([n]) * 16)[-1] for n in (1, 2)]
    assert len({*of_chunks}) == 2
    # Old places of other chunks overlap as they like, new ones do not.
    kept = [[8, 20, 40], [8, 70, 40]]
    assert len(spans_field(kept, 4, 100, sources=NAME * 2)) == 2
    with pytest.raises(MalformedMessage):
        spans_field([[8, 20, 40], [8, 59, 40]], 4, 100, sources=NAME * 2)
