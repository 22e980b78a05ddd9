"""The routing id, ``?s=``, is a balancer's: the server ignores whatever it is, and writes it down
nowhere.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Ping, Pong
from tests.exhaustive import EXHAUSTIVE
from tests.patience import logged
from tests.server_process import FORWARD_PATH, STREAM_PATH, RunningServer, running_server
from tests.split_server.http.gated import device, rows

PING = encode_message(Ping())
MARK = "M4rkedR0utingId"
HOSTILE = {
    "one of ours": MARK + "AAAAAAA",
    "empty": "",
    "8 KB": MARK + "x" * (8000 - len(MARK)),
    "percent-encoded": MARK + "%00%0d%0a%ff%2e%2e%2f%25",
    "two of them": f"{MARK}&s={MARK}2",
    "another parameter too": f"{MARK}&token={MARK}",
    "no value": f"{MARK}&s&&=&",
    "signs": MARK + "'\\\"<script>;--{}[]",
    "a path": f"/../{MARK}/../../weights/manifest.json?s=",
}
MANY = 100_000 if EXHAUSTIVE else 200


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


def _series(server: RunningServer) -> set[str]:
    """What is measured, by name and labels."""
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    return {re.sub(r" \S+$", "", line) for line in lines if not line.startswith("#")}


def _post(query: str) -> bytes:
    head = (
        f"POST {FORWARD_PATH}?s={query} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: {len(PING)}\r\n"
    )
    return head.encode() + b"Connection: close\r\n\r\n" + PING


def _upgrade(server: RunningServer, query: str) -> ClientConnection:
    address = f"ws://127.0.0.1:{server.port}{STREAM_PATH}?s={query}"
    return connect(address, subprotocols=[SUBPROTOCOL], compression=None, proxy=None)  # type: ignore[list-item]


def _is_pong(data: bytes | str) -> bool:
    return isinstance(data, bytes) and decode_server_message(data, 1 << 16) == Pong()


@pytest.mark.parametrize("name", HOSTILE)
def test_frames_are_answered_whatever_the_routing_id_is(server: RunningServer, name: str) -> None:
    head, _, body = server.raw(_post(HOSTILE[name])).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert _is_pong(body)
    assert MARK.encode() not in head
    with _upgrade(server, HOSTILE[name]) as websocket:
        websocket.send(PING)
        assert _is_pong(websocket.recv())


def test_a_line_that_no_socket_reads_is_refused_and_written_down_nowhere(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "split_server"), server.client() as client:
        with pytest.raises(InvalidStatus, match="414"):
            _upgrade(server, MARK * 4000)
        client.get("/behind-it")
        assert MARK not in logged(caplog, "/behind-it")


def test_a_session_goes_on_under_another_routing_id_or_none(server: RunningServer) -> None:
    protocol = device(server)
    frames = [protocol.open, lambda: protocol.step(0, rows(server, 2)), protocol.close]
    with server.client(headers={"Content-Type": CONTENT_TYPE}) as client:
        for number, frame in enumerate(frames):
            answer = client.post(
                f"{FORWARD_PATH}{f'?s={number}' if number else ''}", content=frame()
            )
            protocol.receive(answer.content)
            assert answer.status_code == 200


def test_a_routing_id_is_written_down_nowhere_and_nothing_grows_with_it(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "split_server"), server.client() as client:
        for query in HOSTILE.values():
            server.raw(_post(query))
            # A refusal, and an upgrade that is refused, have a line for the owner of the server.
            server.raw(_post(query).replace(PING[:4], b"SPLX"))
            client.get(f"{STREAM_PATH}?s={query}")
        before = _series(server)
        for _ in range(MANY):
            query = {"s": MARK + secrets.token_urlsafe(16)}
            headers = {"Content-Type": CONTENT_TYPE}
            assert client.post(FORWARD_PATH, params=query, content=PING, headers=headers).is_success
        assert _series(server) == before
        client.get("/the-last-line")
        told = logged(caplog, "/the-last-line")
    assert FORWARD_PATH in told
    assert MARK not in told
    assert MARK not in "".join(before)
    assert len(server.parts.steps.store) == 0
