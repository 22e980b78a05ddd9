"""``POST /api/v1/split/forward`` over a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from split_wire.client import SessionOpened, StepCompleted, StepFailed
from split_wire.codec import encode_message
from split_wire.messages import CONTENT_TYPE, Open, Ping
from tests.server_process import FORWARD_PATH, RunningServer, running_server
from tests.split_server.http.gated import device, rows


def _code(response: httpx.Response) -> str:
    return str(response.json()["error"]["code"])


def _head(content_type: str, length: str) -> bytes:
    """The head of a POST whose body is still to come."""
    return (
        f"POST {FORWARD_PATH} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: {content_type}\r\n{length}\r\n\r\n"
    ).encode()


def test_a_session_works_over_posts_alone(open_server: RunningServer) -> None:
    protocol = device(open_server)
    opened = open_server.post(protocol.open())
    assert opened.headers["content-type"] == CONTENT_TYPE
    assert isinstance(protocol.receive(opened.content), SessionOpened)
    for start, count in ((0, 5), (5, 1), (3, 2)):
        reply = open_server.post(protocol.step(start, rows(open_server, count)))
        assert reply.status_code == 200
        event = protocol.receive(reply.content)
        assert isinstance(event, StepCompleted)
        assert event.cached == start + count
        assert np.isfinite(event.hidden).all()


def test_a_session_opened_over_a_websocket_goes_on_over_posts(open_server: RunningServer) -> None:
    protocol = device(open_server)
    with open_server.socket() as websocket:
        websocket.send(protocol.open())
        protocol.receive(websocket.recv())
        websocket.send(protocol.step(0, rows(open_server, 3)))
        protocol.receive(websocket.recv())
    reply = open_server.post(protocol.step(3, rows(open_server)))
    event = protocol.receive(reply.content)
    assert isinstance(event, StepCompleted)
    assert event.cached == 4


def test_a_refusal_has_its_status_and_is_a_frame(open_server: RunningServer) -> None:
    protocol = device(open_server)
    protocol.receive(open_server.post(protocol.open()).content)
    bad = rows(open_server)
    frame = bytearray(protocol.step(0, bad))
    frame[-4:] = np.float32(np.nan).tobytes()
    reply = open_server.post(bytes(frame))
    assert reply.status_code == 400
    event = protocol.receive(reply.content)
    assert isinstance(event, StepFailed)
    assert event.failure.code == "non_finite"


@pytest.mark.parametrize("body", [b"", b"SPL1", b"\x00" * 100, b"{}"])
def test_bytes_that_are_no_frame_are_told_so_in_a_frame(
    body: bytes, open_server: RunningServer
) -> None:
    reply = open_server.post(body)
    protocol = device(open_server)
    protocol.open()
    event = protocol.receive(reply.content)
    assert isinstance(event, StepFailed)
    assert event.failure.code == "malformed_frame"
    assert reply.status_code == 400


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(open_server: RunningServer) -> None:
    limit = open_server.parts.framed.max_frame_bytes
    answer = open_server.raw(_head(CONTENT_TYPE, f"Content-Length: {limit + 1}"))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"frame_too_large" in answer
    assert b"connection: close" in answer.lower()


def test_a_chunked_body_is_refused_as_soon_as_it_outgrows_the_limit(
    open_server: RunningServer,
) -> None:
    limit = open_server.parts.framed.max_frame_bytes
    head = _head(CONTENT_TYPE, "Transfer-Encoding: chunked")
    answer = open_server.raw(head + f"{limit + 1:x}\r\n".encode() + bytes(limit + 1))
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_large_json_body_is_refused_in_json(open_server: RunningServer) -> None:
    limit = open_server.parts.original.max_request_bytes
    answer = open_server.raw(_head("application/json", f"Content-Length: {limit + 1}"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413")
    assert json.loads(body)["error"]["code"] == "frame_too_large"


def test_another_content_type_reaches_the_original_protocol(open_server: RunningServer) -> None:
    with open_server.client() as client:
        response = client.post(FORWARD_PATH, json={"type": "ping"})
        assert response.json()["type"] == "pong"
        refused = client.post(FORWARD_PATH, content=b"[1]")
    assert refused.status_code == 400
    assert _code(refused) == "malformed_message"


@pytest.mark.parametrize("content_type", [CONTENT_TYPE.upper(), f"{CONTENT_TYPE}; q=1"])
def test_the_content_type_is_read_as_http_asks(
    content_type: str, open_server: RunningServer
) -> None:
    with open_server.client() as client:
        headers = {"Content-Type": content_type}
        response = client.post(FORWARD_PATH, content=encode_message(Ping()), headers=headers)
    assert response.headers["content-type"] == CONTENT_TYPE
    assert response.status_code == 200


def test_get_is_not_how_to_send_a_step(open_server: RunningServer) -> None:
    with open_server.client() as client:
        response = client.get(FORWARD_PATH)
    assert response.status_code == 405
    assert _code(response) == "method_not_allowed"


def test_an_unknown_path_is_told_in_json(open_server: RunningServer) -> None:
    with open_server.client() as client:
        response = client.get("/api/v2?q=<script>")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"
    assert "script" not in response.text


@pytest.fixture
def impatient_server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as server:
        for route in server.app.asgi.routes:
            if getattr(route, "path", "") == FORWARD_PATH:
                route.endpoint.__self__._bodies._seconds = 0.1
        yield server


def test_a_body_that_does_not_arrive_is_given_up(impatient_server: RunningServer) -> None:
    answer = impatient_server.raw(_head(CONTENT_TYPE, "Content-Length: 100") + b"SPL1")
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"request_timeout" in answer


@pytest.mark.parametrize("path", ["/api/v1/split/tokenize", "/api/v1/split/verify"])
def test_a_probe_that_does_not_arrive_is_given_up(
    path: str, impatient_server: RunningServer
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{"
    answer = impatient_server.raw(head.encode())
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"request_timeout" in answer


def test_an_open_message_over_post_names_the_limits(open_server: RunningServer) -> None:
    protocol = device(open_server)
    protocol.open()
    event = protocol.receive(open_server.post(encode_message(Open(open_server.manifest))).content)
    assert isinstance(event, SessionOpened)
    assert event.opened.max_context == 512
