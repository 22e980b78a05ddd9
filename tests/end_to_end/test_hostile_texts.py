"""Strangers at the text APIs that are translated: depth, size, floods, and readers that leave."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from split_server.compat.responses.kept import MOST
from tests import patience
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server

pytestmark = pytest.mark.slow
TOKEN = "a-token-of-the-test"
SAID = [{"role": "user", "content": "Hello"}]
MODEL = {"model": "gatelink"}
ASKED: dict[str, dict[str, Any]] = {
    "/v1/messages": {"messages": SAID, "max_tokens": 2},
    "/v1/responses": {"input": "Hello", "max_output_tokens": 2},
    "/v1/embeddings": {"input": "Hello"},
    "/api/chat": MODEL | {"messages": SAID, "options": {"num_predict": 2}},
    "/api/generate": MODEL | {"prompt": "Hello", "options": {"num_predict": 2}},
    "/api/embed": MODEL | {"input": "Hello"},
    "/tokenize": {"prompt": "Hello"},
    "/detokenize": {"tokens": [5]},
    "/v1/completions": {"prompt": "Hello", "echo": True, "logprobs": 1, "max_tokens": 0},
}
NUMBERS = (
    "1e400",
    "-1e400",
    "9" * 300,
    "9" * 5000,
    "1e-400",
    "NaN",
    "-0.0",
    "18446744073709551616",
)
FIELDS = ("temperature", "seed", "max_tokens", "stream", "input", "messages", "options", "tokens")
# Of an answer that is an error; what was sent is not sent back.
SMALL = 4096


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    settings: dict[str, Any] = {"token": TOKEN, "max_tokens_ceiling": 64}
    with running_server(tiny_path, ollama_listen="127.0.0.1:0", **settings) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[httpx.Client]:
    with server.client(headers={"Authorization": f"Bearer {TOKEN}"}) as made:
        yield made


def body(path: str, name: str, value: str) -> bytes:
    """A request in which ``name`` has a value that is written as it is."""
    rest = {key: given for key, given in ASKED[path].items() if key != name}
    return (json.dumps(rest)[:-1] + f'{", " if rest else ""}"{name}": {value}}}').encode()


def in_form(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text[:SMALL]
    if answer.status_code != 200:
        assert answer.json()["error"]
        assert len(answer.content) < SMALL


@pytest.mark.parametrize("path", ASKED)
def test_numbers_without_end_are_refused_or_harmless(client: httpx.Client, path: str) -> None:
    for name in FIELDS:
        for number in NUMBERS:
            in_form(client.post(path, content=body(path, name, number)))


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("depth", [70, 5000, 100_000])
def test_depth_is_refused_whatever_it_is_made_of(
    client: httpx.Client, path: str, depth: int
) -> None:
    for name in ("tools", "metadata", "options", "input", "tokens", "unheard_of"):
        for value in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            in_form(client.post(path, content=body(path, name, value)))


@pytest.mark.parametrize("path", ASKED)
def test_names_and_texts_of_megabytes_are_not_sent_back(client: httpx.Client, path: str) -> None:
    long = "x" * 3_000_000
    in_form(client.post(path, content=body(path, long, "1")))
    for name in ("model", "user", "tool_choice", "role", "encoding_format", "keep_alive"):
        in_form(client.post(path, content=body(path, name, f'"{long}"')))


def test_a_flood_of_stored_responses_is_bounded(client: httpx.Client) -> None:
    ids = []
    for _ in range(MOST + 6):
        answer = client.post("/v1/responses", json=ASKED["/v1/responses"] | {"store": True})
        ids.append(answer.json()["id"])
    found = [client.get(f"/v1/responses/{id_}").status_code for id_ in ids]
    assert found == [404] * 6 + [200] * MOST
    with httpx.Client(base_url=client.base_url, trust_env=False, timeout=PATIENCE) as stranger:
        assert stranger.get(f"/v1/responses/{ids[-1]}").status_code == 401


LONG: dict[str, dict[str, Any]] = {
    "/v1/messages": {"max_tokens": 60, "stream": True},
    "/v1/responses": {"max_output_tokens": 60, "stream": True},
    "/v1/embeddings": {"input": ["word " * 60] * 30},
    "/api/chat": {"options": {"num_predict": 60}},
    "/api/embed": {"input": ["word " * 60] * 30},
    "/v1/completions": {"prompt": ["word " * 60] * 8},
    "/tokenize": {"prompt": "word " * 5000},
}


def leave(server: RunningServer, path: str, asked: dict[str, Any], read: int) -> None:
    """Ask, read so many bytes, and be gone; Ollama's on its own listener."""
    port = server.ollama_port if path.startswith("/api/") else server.port
    sent = json.dumps(asked).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
        if read:
            raw.recv(read)


def test_readers_that_leave_at_any_moment_leave_no_session(server: RunningServer) -> None:
    rng = random.Random(0)  # noqa: S311 - repeatable, nothing secret
    for number in range(60):
        path = rng.choice(list(LONG))
        asked = ASKED[path] | LONG[path]
        if path in ("/v1/messages", "/v1/responses", "/api/chat"):
            asked |= {"cache_salt": f"of-{number}"}
        leave(server, path, asked, rng.choice((0, 0, 1)))
    compat = server.parts.compat
    assert compat is not None
    generator, store = compat.generator, server.parts.steps.store
    patience.until(lambda: not generator.places.running and not generator.places.waiting)
    # Those that are kept for a next turn are sessions as well.
    patience.until(lambda: len(store) == generator.idle_sequences)
    server.loop.call_soon_threadsafe(generator.close)
    patience.until(lambda: len(store) == 0)
