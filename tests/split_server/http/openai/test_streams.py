"""Streams that break off, readers that leave, and a server that is full."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from socket import create_connection
from typing import Any

import httpx
import pytest

from split_server.compat.generator import Generator, GeneratorLimits
from split_server.compat.parts import Compat
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from split_server.sessions.in_process import InProcessSessions
from tests import patience
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import (
    CHAT,
    COMPLETIONS,
    HELLO,
    chat,
    events,
    post,
    refused,
)

# The model's end token, banned so that a reply is as long as it may be.
ENDLESS = {"2045": -100, "2046": -100, "2047": -100}
LONG: dict[str, Any] = {"prompt": "Hello", "max_tokens": 4000, "logit_bias": ENDLESS}


@contextmanager
def limited(running: int, waiting: int) -> Iterator[RunningServer]:
    """A server that makes so many replies at a time."""
    parts = load_parts(ServerConfig())
    assert parts.compat is not None
    limits = GeneratorLimits(running=running, waiting=waiting)
    local = parts.compat.local
    generator = Generator(local.ends, InProcessSessions(parts.steps), limits)
    compat: Compat = replace(parts.compat, generator=generator)
    with running_server(parts=replace(parts, compat=compat)) as server:
        yield server


@pytest.fixture(scope="module")
def narrow() -> Iterator[RunningServer]:
    with limited(running=1, waiting=0) as server:
        yield server


def generations(server: RunningServer) -> dict[str, int]:
    with server.client() as client:
        found: dict[str, int] = client.get("/v1/stats").json()["generations"]
    return found


def until(server: RunningServer, what: str, count: int) -> None:
    patience.until(lambda: generations(server)[what] == count)


@contextmanager
def streaming(server: RunningServer, **values: Any) -> Iterator[Iterator[str]]:
    """The lines of a long reply that is under way."""
    with (
        server.client() as client,
        client.stream("POST", COMPLETIONS, json=LONG | {"stream": True} | values) as answer,
    ):
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith("data: {")
        yield lines


def test_a_reader_that_leaves_a_stream_ends_its_work(narrow: RunningServer) -> None:
    with streaming(narrow):
        assert generations(narrow)["running"] == 1
    until(narrow, "running", 0)
    assert chat(narrow, max_tokens=2)["choices"]


def test_a_reader_that_leaves_before_the_whole_answer_ends_its_work(
    narrow: RunningServer,
) -> None:
    body = json.dumps(LONG | {"n": 8}).encode()
    head = (
        f"POST {COMPLETIONS} HTTP/1.1\r\nHost: 127.0.0.1:{narrow.port}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with create_connection(("127.0.0.1", narrow.port)) as raw:
        raw.sendall(head.encode() + body)
        until(narrow, "running", 1)
    until(narrow, "running", 0)
    assert chat(narrow, max_tokens=2)["choices"]


@pytest.mark.parametrize("streamed", [True, False])
def test_a_full_server_says_when_to_come_back(narrow: RunningServer, streamed: bool) -> None:
    with streaming(narrow):
        answer = post(narrow, CHAT, messages=HELLO, stream=streamed)
        error = refused(answer, 503)
        models = httpx.get(f"{narrow.url}/v1/models", trust_env=False)
    assert error["code"] == "overloaded"
    assert error["type"] == "server_error"
    assert int(answer.headers["retry-after"]) >= 1
    assert models.status_code == 200
    until(narrow, "running", 0)


def test_a_request_that_waits_is_answered_when_its_turn_comes() -> None:
    with limited(running=1, waiting=4) as server, ThreadPoolExecutor(1) as threads:
        with streaming(server):
            waiting = threads.submit(chat, server, max_tokens=2)
            until(server, "waiting", 1)
        assert waiting.result(patience.PATIENCE)["choices"]


@pytest.fixture(scope="module")
def small() -> Iterator[RunningServer]:
    """A server whose cache holds a few hundred tokens."""
    with running_server(dtype="float32", cache_bytes=2_000_000) as server:
        yield server


@pytest.mark.parametrize("streamed", [True, False])
def test_a_prompt_beyond_the_memory_is_a_413_with_its_sizes(
    small: RunningServer, streamed: bool
) -> None:
    answer = post(small, COMPLETIONS, prompt=[300] * 2000, stream=streamed)
    error = refused(answer, 413)
    assert error["code"] == "prompt_too_large"
    assert error["prompt_tokens"] == 2000
    assert error["predicted_bytes"] > error["free_bytes"] >= 0
    assert 0 < error["suggested_tokens"] < 2000
    again = post(small, COMPLETIONS, prompt=[300] * error["suggested_tokens"], max_tokens=1)
    assert again.status_code == 200


def test_memory_that_ends_in_the_middle_of_a_stream_is_an_event(small: RunningServer) -> None:
    answer = post(small, COMPLETIONS, **LONG, stream=True)
    assert answer.status_code == 200
    *chunks, last = events(answer.text)
    assert len(chunks) > 10
    assert last["error"]["code"] == "prompt_too_large"
    assert last["error"]["suggested_tokens"] > 0
