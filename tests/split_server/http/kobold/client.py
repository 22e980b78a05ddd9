"""Kobold clients for tests: what they send and how they read the answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.sync.client import ClientConnection, connect

from tests.server_process import RunningServer

GENERATE = "/api/v1/generate"
EVENTS = "/api/extra/generate/stream"
JSON_SOCKET = "/api/v1/generate/stream"
BINARY_SOCKET = "/api/extra/generate/stream/ws"


@contextmanager
def socket(server: RunningServer, path: str, **options: Any) -> Iterator[ClientConnection]:
    address = f"ws://127.0.0.1:{server.port}{path}"
    with connect(address, compression=None, max_size=None, proxy=None, **options) as connection:
        yield connection


def post(server: RunningServer, path: str, **fields: Any) -> Any:
    """The answer to a POST that must succeed."""
    with server.client() as client:
        response = client.post(path, json=fields)
    assert response.status_code == 200, response.text
    return response.json()


def events(server: RunningServer, **fields: Any) -> list[dict[str, Any]]:
    """All events of a stream that must begin."""
    with server.client() as client, client.stream("POST", EVENTS, json=fields) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert set(lines[::2]) == {"event: message"}
    assert all(line.startswith("data: ") for line in lines[1::2])
    return [json.loads(line.removeprefix("data: ")) for line in lines[1::2]]


def ask(connection: ClientConnection, **fields: Any) -> list[dict[str, Any]]:
    """All events of one generation on the JSON socket."""
    connection.send(json.dumps({"type": "generate"} | fields))
    told = []
    while True:
        told.append(json.loads(connection.recv()))
        if told[-1]["type"] in ("done", "error"):
            return told


def ask_binary(
    connection: ClientConnection, **fields: Any
) -> tuple[list[dict[str, Any]], list[bytes]]:
    """All text frames of one generation, and the binary frames that follow the tokens."""
    connection.send(json.dumps(fields))
    told: list[dict[str, Any]] = []
    frames: list[bytes] = []
    while True:
        message = connection.recv()
        if isinstance(message, bytes):
            assert told[-1]["type"] == "token"
            frames.append(message)
            continue
        told.append(json.loads(message))
        if told[-1]["type"] in ("done", "error"):
            return told, frames


def decoded(attention: dict[str, Any]) -> NDArray[Any]:
    """The rows of an event, as the specification's client reads them."""
    assert attention["encoding"] == "base64"
    data = base64.b64decode(attention["data"])
    return np.frombuffer(data, attention["dtype"]).reshape(attention["shape"])


def ids_of(told: list[dict[str, Any]]) -> list[int]:
    """The token ids of events, flat or not."""
    tokens = [event for event in told if event["type"] == "token"]
    return [(event if "token_id" in event else event["token"])["token_id"] for event in tokens]
