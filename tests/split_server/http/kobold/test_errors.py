"""Refusals, limits and extremes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.checkpoints import tiny_checkpoint
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import ALLOWED_ORIGIN, TOKEN
from tests.split_server.http.kobold.client import (
    BINARY_SOCKET,
    EVENTS,
    GENERATE,
    JSON_SOCKET,
    ask,
    ask_binary,
    decoded,
    events,
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


def test_more_rows_than_one_document_may_hold_are_refused(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_server.http.kobold.generate.MAX_ATTENTION_BYTES", 100_000)
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
