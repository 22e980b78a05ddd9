"""Refusals, cancels, and clients that leave."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.checkpoints import tiny_checkpoint
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import ALLOWED_ORIGIN, TOKEN
from tests.split_server.http.kobold_client import (
    BINARY_SOCKET,
    EVENTS,
    GENERATE,
    JSON_SOCKET,
    ask,
    ask_binary,
    decoded,
    events,
    ids_of,
    post,
    socket,
)

IDS = list(range(11, 31))
LONG: dict[str, Any] = {"input_ids": IDS, "temperature": 1, "max_length": 400, "ignore_eos": True}
REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"input_ids": [999_999]}, 400, "INVALID_TOKEN"),
    ({"input_ids": [-1]}, 400, "INVALID_TOKEN"),
    ({"input_ids": IDS, "banned_tokens": [999_999]}, 400, "INVALID_TOKEN"),
    ({"input_ids": IDS * 40}, 413, "CONTEXT_TOO_LONG"),
    ({"prompt": "Hello " * 2000}, 413, "CONTEXT_TOO_LONG"),
    ({"input_ids": []}, 400, "INVALID_REQUEST"),
    ({"prompt": ""}, 400, "INVALID_REQUEST"),
    ({}, 400, "INVALID_REQUEST"),
    ({"input_ids": "text"}, 400, "INVALID_PARAMETER"),
    ({"input_ids": IDS, "temperature": -1}, 400, "INVALID_PARAMETER"),
    ({"input_ids": IDS, "max_length": "many"}, 400, "INVALID_PARAMETER"),
    ({"input_ids": IDS, "top_p": 10**400}, 400, "INVALID_PARAMETER"),
    ({"input_ids": IDS, "banned_tokens": list(range(325))}, 400, "INVALID_PARAMETER"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    path = tiny_checkpoint("qwen2", tmp_path_factory.mktemp("kobold") / "tiny")
    with running_server(path, allow_origin=(ALLOWED_ORIGIN,)) as server:
        yield server


def settled(server: RunningServer) -> bool:
    """Whether no generation runs any more, asked for until it is so."""
    assert server.parts.compat is not None
    places, moment = server.parts.compat.generator.places, threading.Event()
    return any(not places.running or moment.wait(0.01) for _ in range(1000))


@pytest.mark.parametrize(
    "extreme",
    [
        {"temperature": 5e-324},
        {"temperature": 1e-300, "top_k": 3, "min_p": 1.0},
        {"temperature": 100, "top_p": 5e-324},
        {"repetition_penalty": 100, "presence_penalty": 2, "frequency_penalty": -2},
        {"repetition_penalty": 0.01, "temperature": 0.001},
        {"logit_bias": {"5": 100, "6": -100}},
        {"top_k": 2**31 - 1, "logprobs": 20},
        {"banned_tokens": list(range(1, 320)), "temperature": 100, "ban_eos_token": True},
        {"stop_tokens": list(range(320))},
        {"max_length": 2**31 - 1, "stop_sequence": ["a", "e", " "]},
    ],
)
def test_extreme_parameters_are_answered(server: RunningServer, extreme: dict[str, Any]) -> None:
    fields = {"input_ids": IDS, "max_length": 4, "temperature": 1.0, "seed": 3} | extreme
    assert post(server, GENERATE, **fields)["finish_reason"] is not None


@pytest.mark.parametrize("path", [GENERATE, EVENTS])
@pytest.mark.parametrize(("fields", "status", "code"), REFUSED)
def test_requests_are_refused_before_a_stream_begins(
    server: RunningServer, path: str, fields: dict[str, Any], status: int, code: str
) -> None:
    with server.client() as client:
        response = client.post(path, json=fields)
    assert (response.status_code, response.json()["error_code"]) == (status, code)
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("fields", "status", "code"), REFUSED)
def test_the_json_socket_says_why_and_goes_on(
    server: RunningServer, fields: dict[str, Any], status: int, code: str
) -> None:
    with socket(server, JSON_SOCKET) as connection:
        told = ask(connection, request_id="bad", **fields)
        assert [(event["error_code"], event["request_id"]) for event in told] == [(code, "bad")]
        assert ask(connection, input_ids=IDS, max_new_tokens=1)[-1]["type"] == "done"


@pytest.mark.parametrize(("fields", "status", "code"), REFUSED)
def test_the_binary_socket_says_why_and_closes_abnormally(
    server: RunningServer, fields: dict[str, Any], status: int, code: str
) -> None:
    with socket(server, BINARY_SOCKET) as connection:
        told, frames = ask_binary(connection, **fields)
        assert ([event["error_code"] for event in told], frames) == ([code], [])
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4000 + status, code)


@pytest.mark.parametrize("message", ["nonsense", "[]", '{"type": "sing"}', b"\x00", '{"type": 5}'])
def test_messages_that_are_no_requests_are_told_so(
    server: RunningServer, message: str | bytes
) -> None:
    with socket(server, JSON_SOCKET) as connection:
        connection.send(message)
        assert json.loads(connection.recv())["error_code"] == "INVALID_REQUEST"
        connection.send('{"type": "ping"}')
        assert json.loads(connection.recv()) == {"type": "pong"}
        connection.send('{"type": "cancel"}')
        assert ask(connection, input_ids=IDS, max_new_tokens=1)[-1]["type"] == "done"


def test_a_context_that_is_full_ends_the_reply(server: RunningServer) -> None:
    told = events(server, **LONG | {"input_ids": (IDS * 30)[:505]})
    assert told[-1]["finish_reason"] == "length"
    assert told[-1]["total_tokens"] == 512 - 505 + 1


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
        assert told[-1]["total_tokens"] == len(ids_of(told)) + 1 < 400
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
    assert server.parts.compat.generator.counters.reply_tokens - before < 8 * 400


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
        places, moment = server.parts.compat.generator.places, threading.Event()
        assert any(places.running == 2 or moment.wait(0.01) for _ in range(500))
        assert client.post("/api/extra/abort").json() == {"success": True}
        assert last_of(connection)["finish_reason"] == "cancelled"
        begun.join()
    assert whole["finish_reason"] == "cancelled"
    assert whole["total_tokens"] == len(whole["generated_tokens"]) < 400


def last_of(connection: ClientConnection) -> dict[str, Any]:
    while True:
        event: dict[str, Any] = json.loads(connection.recv())
        if event["type"] == "done":
            return event


def test_more_rows_than_one_document_may_hold_are_refused(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_server.http.kobold_generate.MAX_ATTENTION_BYTES", 100_000)
    fields = {"input_ids": IDS, "max_length": 200, "return_attention": True}
    with server.client() as client:
        response = client.post(GENERATE, json=fields)
    assert response.status_code == 413
    assert response.json()["error_code"] == "ATTENTION_TOO_LARGE"
    small = fields | {"attention_format": "viz", "max_length": 20, "temperature": 0}
    assert post(server, GENERATE, **small)["attention_data"][0]["attention"]["format"] == "viz"


def test_long_answers_are_packed_for_those_who_accept_it(server: RunningServer) -> None:
    fields = {"input_ids": IDS, "max_length": 40, "return_attention": True, "temperature": 0}
    with server.client() as client:
        client.headers["Accept-Encoding"] = "identity"
        plain = client.post(GENERATE, json=fields)
        with client.stream(
            "POST", GENERATE, json=fields, headers={"Accept-Encoding": "br, gzip;q=0.5"}
        ) as response:
            packed = b"".join(response.iter_raw())
    assert "content-encoding" not in plain.headers
    assert response.headers["content-encoding"] == "gzip"
    assert len(packed) < len(plain.content)
    rows = [json.loads(gzip.decompress(packed)), plain.json()]
    first, second = (decoded(body["attention_data"][-1]["attention"]) for body in rows)
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_out_of_memory_is_told_with_the_numbers_of_the_specification(tiny_path: Path) -> None:
    with running_server(tiny_path, cache_bytes=40 * 768) as small:
        fields = {"input_ids": (IDS * 10)[:150], "max_length": 4, "temperature": 0}
        with small.client() as client:
            answers = [client.post(path, json=fields) for path in (GENERATE, EVENTS)]
        with socket(small, JSON_SOCKET) as connection:
            event = ask(connection, **fields)[-1]
        for document in [*(answer.json() for answer in answers), event]:
            assert document["error_code"] == "OOM", document
            assert document["context_length"] >= 150
            assert 0 < document["vram_used_mb"] <= document["vram_total_mb"]
        assert {answer.status_code for answer in answers} == {413}


def test_the_api_asks_for_the_token_and_can_be_left_out(
    guarded_server: RunningServer, tiny_path: Path
) -> None:
    with guarded_server.client() as client:
        assert client.get("/api/v1/model").status_code == 401
        assert client.post(GENERATE, json={"input_ids": IDS}).status_code == 401
        allowed = client.get("/api/v1/model", headers={"Authorization": f"Bearer {TOKEN}"})
        assert allowed.status_code == 200
    with pytest.raises(InvalidStatus), socket(guarded_server, BINARY_SOCKET):
        pass
    with running_server(tiny_path, compat=False) as bare, bare.client() as client:
        assert client.get("/api/v1/model").status_code == 404


def test_sockets_of_foreign_pages_are_refused(server: RunningServer) -> None:
    with pytest.raises(InvalidStatus), socket(server, JSON_SOCKET, origin="https://evil.example"):
        pass
    with socket(server, JSON_SOCKET, origin=ALLOWED_ORIGIN) as connection:
        assert ask(connection, input_ids=IDS, max_new_tokens=1)[-1]["type"] == "done"


def test_an_unexpected_failure_tells_a_reference_and_nothing_else(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.parts.compat is not None
    embedder = server.parts.compat.generator.ends.embedder

    def fail(*_: object) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(type(embedder), "lookup", fail)
    with server.client() as client:
        response = client.post(EVENTS, json={"input_ids": [5, 5, 5, 5]})
    assert (response.status_code, response.json()["error_code"]) == (500, "INTERNAL")
    assert "the cause" not in response.text


def test_a_server_that_stops_tells_the_generation_under_way(tiny_path: Path) -> None:
    with running_server(tiny_path, shutdown_grace=5.0) as stopping:
        with socket(stopping, JSON_SOCKET) as connection:
            connection.send(json.dumps(LONG))
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
