"""Messages between host and worker survive the way, and nothing else is believed."""

from __future__ import annotations

import socket
import struct

import msgpack
import pytest

from split_server.adapter_host.messages import (
    LENGTH,
    MAX_MESSAGE,
    Job,
    JobAnswer,
    Torn,
    length_of,
    pack_answer,
    pack_job,
    read_message,
    unpack_answer,
    unpack_job,
)


def test_jobs_and_answers_come_back_as_they_were() -> None:
    job = Job("evaluate", bytes(16), "", (b"query",), (b"a" * 16, b"b" * 16))
    answer = JobAnswer("ok", b"reply")
    assert unpack_job(pack_job(job)[LENGTH.size :]) == job
    assert unpack_answer(pack_answer(answer)[LENGTH.size :]) == answer


@pytest.mark.parametrize(
    "fields",
    [
        None,
        [],
        ["evaluate", b"", "", [b"x"]],
        ["steal", b"", "", [], []],
        ["evaluate", "text", "", [], []],
        ["evaluate", b"", "", ["text"], []],
        ["evaluate", b"", "", [], [7]],
    ],
)
def test_what_is_no_job_is_torn(fields: object) -> None:
    with pytest.raises(Torn):
        unpack_job(msgpack.packb(fields))


@pytest.mark.parametrize("fields", [{}, ["ok"], ["fine", b""], ["ok", "text"], ["ok", b"", b""]])
def test_what_is_no_answer_is_torn(fields: object) -> None:
    with pytest.raises(Torn):
        unpack_answer(msgpack.packb(fields))


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x92\xa2ok", b"\xdd\xff\xff\xff\xff"])
def test_what_is_no_msgpack_is_torn(body: bytes) -> None:
    with pytest.raises(Torn):
        unpack_answer(body)


@pytest.mark.parametrize("length", [0, MAX_MESSAGE + 1, 2**32 - 1])
def test_an_impossible_length_is_torn_before_anything_is_read(length: int) -> None:
    with pytest.raises(Torn):
        length_of(struct.pack("<I", length))


def test_a_stream_that_ends_between_messages_ends_and_inside_one_is_torn() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(pack_answer(JobAnswer("ok", b"reply")) + LENGTH.pack(100) + b"cut")
        ours.shutdown(socket.SHUT_WR)
        assert read_message(theirs) is not None
        with pytest.raises(Torn):
            read_message(theirs)
        assert read_message(theirs) is None
