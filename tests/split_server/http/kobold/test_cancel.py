"""Cancels, aborts, clients that leave, and a server that stops."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import ClientConnection

from split_server.http.kobold import routes
from split_server.security.principal import LOCAL
from tests.checkpoints import tiny_checkpoint
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.kobold.client import (
    BINARY_SOCKET,
    EVENTS,
    GENERATE,
    JSON_SOCKET,
    ask,
    ids_of,
    post,
    socket,
)

IDS = list(range(11, 31))
# It is still under way when a busy machine comes to the next request.
TOKENS = 4000
LONG: dict[str, Any] = {
    "input_ids": IDS,
    "temperature": 1,
    "max_length": TOKENS,
    "ignore_eos": True,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("kobold") / "tiny"
    path = tiny_checkpoint("qwen2", folder, max_position_embeddings=2 * TOKENS)
    with running_server(path) as server:
        yield server


def settled(server: RunningServer) -> bool:
    """Whether no generation runs any more, asked for until it is so."""
    assert server.parts.compat is not None
    places = server.parts.compat.generator.places
    until(lambda: not places.running)
    return True


@pytest.mark.parametrize("kind", ["cancel", "stop"])
def test_a_cancel_ends_the_generation_and_the_socket_goes_on(
    server: RunningServer, kind: str
) -> None:
    with socket(server, JSON_SOCKET) as connection:
        connection.send(json.dumps(LONG | {"request_id": "long"}))
        connection.recv()
        connection.send(json.dumps({"type": kind, "request_id": "another"}))
        connection.send(json.dumps({"type": "generate", "input_ids": IDS, "request_id": "second"}))
        connection.send(json.dumps({"type": kind, "request_id": "long"}))
        told = [json.loads(connection.recv())]
        while told[-1]["type"] != "done":
            told.append(json.loads(connection.recv()))
        busy = [event for event in told if event["type"] == "error"]
        assert [(e["error_code"], e["request_id"]) for e in busy] == [("BUSY", "second")]
        assert told[-1]["finish_reason"] == "cancelled"
        assert told[-1]["total_tokens"] == len(ids_of(told)) + 1 < TOKENS
        assert ask(connection, input_ids=IDS, max_new_tokens=2)[-1]["total_tokens"] == 2
    assert settled(server)


def test_a_second_request_ends_the_binary_socket(server: RunningServer) -> None:
    with socket(server, BINARY_SOCKET) as connection:
        connection.send(json.dumps(LONG))
        connection.recv()
        connection.send(json.dumps(LONG))
        # Iterating over messages would end at a normal closure; another one is raised.
        with pytest.raises(ConnectionClosedError) as closed:
            list(connection)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4409, "BUSY")
    assert settled(server)


def leave_socket(path: str) -> Callable[[RunningServer], None]:
    def leave(server: RunningServer) -> None:
        with socket(server, path) as connection:
            connection.send(json.dumps(LONG))
            connection.recv()

    return leave


def leave_events(server: RunningServer) -> None:
    with server.client() as client, client.stream("POST", EVENTS, json=LONG) as response:
        assert next(response.iter_lines())


def leave_reply(server: RunningServer) -> None:
    impatient = httpx.Client(base_url=server.url, trust_env=False, timeout=0.3)
    with impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post(GENERATE, json=LONG | {"num_samples": 8, "logprobs": 20})


@pytest.mark.parametrize(
    "leave",
    [leave_socket(JSON_SOCKET), leave_socket(BINARY_SOCKET), leave_events, leave_reply],
    ids=["json", "binary", "events", "reply"],
)
def test_a_client_that_leaves_takes_its_generation_with_it(
    server: RunningServer, leave: Callable[[RunningServer], None]
) -> None:
    assert server.parts.compat is not None
    before = server.parts.compat.generator.counters.reply_tokens
    leave(server)
    assert settled(server)
    assert server.parts.compat.generator.counters.reply_tokens - before < 8 * TOKENS


def test_an_abort_ends_the_caller_s_generations(server: RunningServer) -> None:
    with socket(server, JSON_SOCKET) as connection, server.client() as client:
        assert client.post("/api/extra/abort").json() == {"success": False}
        connection.send(json.dumps(LONG | {"genkey": "mine"}))
        first = json.loads(connection.recv())
        assert first["type"] == "token"
        other = client.post("/api/extra/abort", json={"genkey": "another"})
        assert other.json() == {"success": False}
        pieces = iter([b'{"genkey":', b' "another"}'])
        assert client.post("/api/extra/abort", content=pieces).json() == {"success": False}
        assert client.post("/api/extra/abort", json={"genkey": "mine"}).json() == {"success": True}
        assert last_of(connection)["finish_reason"] == "cancelled"


def test_an_abort_without_a_name_ends_what_runs_and_keeps_what_was_made(
    server: RunningServer,
) -> None:
    whole: dict[str, Any] = {}
    with server.client() as client, socket(server, JSON_SOCKET) as connection:
        connection.send(json.dumps(LONG))
        connection.recv()
        begun = threading.Thread(target=lambda: whole.update(post(server, GENERATE, **LONG)))
        begun.start()
        assert server.parts.compat is not None
        places = server.parts.compat.generator.places
        until(lambda: places.running == 2)
        assert client.post("/api/extra/abort").json() == {"success": True}
        assert last_of(connection)["finish_reason"] == "cancelled"
        begun.join()
    assert whole["finish_reason"] == "cancelled"
    assert whole["total_tokens"] == len(whole["generated_tokens"]) < TOKENS


def test_the_text_so_far_is_told_to_the_caller_alone(server: RunningServer) -> None:
    check = "/api/extra/generate/check"
    with socket(server, JSON_SOCKET) as connection, server.client() as client:
        assert client.post(check).json() == {"results": [{"text": ""}]}
        connection.send(json.dumps(LONG | {"genkey": "mine", "logprobs": False}))
        told = [json.loads(connection.recv())["token"]["text"] for _ in range(8)]
        texts = [
            client.post(check, json={"genkey": "mine"}).json()["results"][0]["text"],
            client.get(check).json()["results"][0]["text"],
        ]
        assert client.post(check, json={"genkey": "another"}).json()["results"][0]["text"] == ""
        assert client.post(check, json={"genkey": 1}).status_code == 400
        client.post("/api/extra/abort")
        last_of(connection)
        until(lambda: client.get(check).json() == {"results": [{"text": ""}]})
    assert all(text.startswith("".join(told)) for text in texts)


def test_whom_many_people_may_be_is_told_no_text(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "ANONYMOUS", LOCAL)
    with socket(server, JSON_SOCKET) as connection, server.client() as client:
        connection.send(json.dumps(LONG | {"genkey": "mine"}))
        connection.recv()
        for asked in ({}, {"genkey": "mine"}):
            told = client.post("/api/extra/generate/check", json=asked).json()
            assert told == {"results": [{"text": ""}]}
        client.post("/api/extra/abort")
        last_of(connection)


def last_of(connection: ClientConnection) -> dict[str, Any]:
    while True:
        event: dict[str, Any] = json.loads(connection.recv())
        if event["type"] == "done":
            return event


def test_a_server_that_stops_tells_the_generation_under_way(tiny_path: Path) -> None:
    with running_server(tiny_path, shutdown_grace=5.0) as stopping:
        with socket(stopping, JSON_SOCKET) as connection:
            connection.send(json.dumps(LONG | {"max_length": 400}))
            connection.recv()
            stopping.stop()
            told = [json.loads(message) for message in received(connection)]
        assert told[-1].get("error_code", told[-1]["type"]) in ("SHUTTING_DOWN", "done")


def received(connection: ClientConnection) -> Iterator[str | bytes]:
    """All messages up to the closure, normal or not."""
    try:
        yield from connection
    except ConnectionClosedError:
        return
