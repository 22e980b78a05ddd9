"""A process with limits: what it survives, and what its parent does."""

from __future__ import annotations

import threading
import time

import pytest

from split_client.confined.process import ConfinedProcess, Stopped
from split_server.checkpoint.folder import EMBEDDED

WORKER = "split_client.tokenizer.worker"
FILE = str(EMBEDDED / "tokenizer.json")
HELLO = {"encode": "Hello", "special": False}


def started(seconds: float = 30.0, most_answer: int = 1 << 20) -> ConfinedProcess:
    arguments = [str(512 << 20), FILE]
    return ConfinedProcess(WORKER, arguments, seconds=seconds, most_answer=most_answer)


def test_it_starts_with_the_first_request_and_again_after_it_was_closed() -> None:
    process = started()
    assert not process.running
    first = process.ask(HELLO)
    process.close()
    assert not process.running
    assert process.ask(HELLO) == first
    process.close()


def test_an_answer_that_is_too_long_is_none() -> None:
    process = started(most_answer=8)
    with pytest.raises(Stopped, match="ended by itself"):
        process.ask(HELLO)
    assert not process.running


def test_time_that_is_up_ends_it() -> None:
    process = started(seconds=0.01)
    with pytest.raises(Stopped, match="longer than"):
        process.ask(HELLO)


def test_another_thread_can_end_a_request() -> None:
    process, ended = started(), threading.Event()

    def ask() -> None:
        try:
            while True:
                process.ask({"encode": "a" * 200_000, "special": False})
        except Stopped:
            ended.set()

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 60
    while not ended.is_set() and time.monotonic() < deadline:
        process.kill()
        ended.wait(0.05)
    thread.join(60)
    assert ended.is_set()
    process.close()
