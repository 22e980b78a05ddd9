"""What a session remembers of chunks: each once, and what its device names at the end beside it."""

from __future__ import annotations

from split_server.kv.block_key import NAME_BYTES
from split_server.sessions.traces import Traces


def _name(number: int) -> bytes:
    return number.to_bytes(NAME_BYTES, "little")


def test_a_chunk_that_is_taken_a_thousand_times_is_remembered_once() -> None:
    traces = Traces()
    traces.add_chunks([_name(1)])
    for number in (2, 3):
        traces.add_chunks([_name(number)] * 1024)
    assert traces.chunk_names() == [_name(1), _name(2), _name(3)]


def test_of_many_the_oldest_are_not_remembered_but_all_that_are_named_at_the_end() -> None:
    traces = Traces()
    traces.add_chunks(map(_name, range(3000)))
    traces.add_last_chunks(map(_name, range(952, 5000)))
    assert traces.chunk_names() == [_name(number) for number in range(952, 5000)]
