"""Schemas that would take minutes and gigabytes, from clients that hang up."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx

from split_server.checkpoint.folder import EMBEDDED
from tests.end_to_end.server_processes import server_process
from tests.patience import PATIENCE, until
from tests.split_relay.net import free_port

GRACE = 5.0
SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "integer", "multipleOf": 99999989},
    {"type": "integer", "allOf": [{"multipleOf": n} for n in (97, 89, 83, 79)]},
    {
        "type": "integer",
        "allOf": [{"anyOf": [{"multipleOf": 8633}]}, {"anyOf": [{"multipleOf": 8137}]}],
    },
)


def asked(schema: dict[str, Any]) -> bytes:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    return json.dumps({"prompt": [5, 6], "max_tokens": 2, "response_format": form}).encode()


def posted_and_left(port: int, body: bytes) -> None:
    head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)


def _code(client: httpx.Client, schema: dict[str, Any]) -> str:
    """Of the refusal; a busy server has no time for a schema at first."""
    return str(client.post("/v1/completions", content=asked(schema)).json()["error"]["code"])


def test_they_keep_nobody_waiting_and_the_server_from_ending_neither() -> None:
    options = ("--shutdown-grace", str(GRACE))
    with server_process(EMBEDDED, free_port(), *options) as server:
        for number in range(24):
            posted_and_left(server.port, asked(SCHEMAS[number % len(SCHEMAS)]))
        with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
            answer = client.post("/v1/completions", content=asked({"type": "boolean"}))
            assert answer.status_code in (200, 503), answer.text
            until(lambda: _code(client, SCHEMAS[0]) != "overloaded")
            assert _code(client, SCHEMAS[0]) == "invalid_schema"
        posted_and_left(server.port, asked(SCHEMAS[2]))
        assert server.end(GRACE + PATIENCE) == 0
