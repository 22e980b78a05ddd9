"""Limits on connections that never become a request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest

from split_server.http.wire import protocols
from split_server.http.wire.protocols import BoundedHttp
from split_wire.codec import encode_message
from split_wire.messages import Ping
from tests.patience import PATIENCE, until
from tests.server_process import FORWARD_PATH, RunningServer

_HANDSHAKE = (
    b"GET /api/v1/split/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: split.v1\r\n\r\n"
)


def test_an_endless_head_is_refused(open_server: RunningServer) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Filler: " + b"x" * 600_000
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        answer = _send_until_closed(raw, request)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_endless_headers_are_refused(open_server: RunningServer) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X-F: y\r\n" * 60_000
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        answer = _send_until_closed(raw, request)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "filler",
    [b"X-Filler: " + b"x" * 100_000 + b"\r\n", b"X-F: y\r\n" * 12_000],
    ids=["one header", "many headers"],
)
@pytest.mark.parametrize("upgrade", [b"", b"Upgrade: websocket\r\nConnection: Upgrade\r\n"])
def test_a_head_that_comes_in_one_piece_has_the_same_limit(
    filler: bytes, upgrade: bytes, open_server: RunningServer
) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + upgrade + filler + b"\r\n"
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        raw.sendall(head)
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = raw.makefile("rb").read()
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_a_long_address_counts_as_the_head_does(open_server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        raw.sendall(b"GET /health?" + b"q" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = raw.makefile("rb").read()
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_a_head_of_sixty_kilobytes_is_served(open_server: RunningServer) -> None:
    with open_server.client() as client:
        assert client.get("/health", headers={"X-Filler": "x" * 60_000}).status_code == 200


def test_a_handshake_that_cannot_be_parsed_is_not_left_open(open_server: RunningServer) -> None:
    long = _HANDSHAKE.replace(b"split.v1", b"split.v1, split.bearer." + b"A" * 9000)
    answer = open_server.raw(long)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize(
    "wrong", [b"c2VjcmV0LXRva2Vu=", b"c2VjcmV0LXRva2Vu\xe9", b"c2VjcmV0LXRva2Vu c"]
)
def test_a_refused_handshake_does_not_repeat_what_was_sent(
    wrong: bytes, open_server: RunningServer
) -> None:
    answer = open_server.raw(_HANDSHAKE.replace(b"split.v1", b"split.v1, split.bearer." + wrong))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"c2VjcmV0" not in answer


def _send_until_closed(raw: socket.socket, request: bytes) -> bytes:
    """What the server says before it closes; it may close before everything is sent."""
    try:
        for start in range(0, len(request), 4096):
            raw.sendall(request[start : start + 4096])
        return raw.makefile("rb").read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: local"])
def test_a_head_that_does_not_arrive_is_given_up(
    sent: bytes, open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = protocols.HEAD_SECONDS
    monkeypatch.setattr(protocols, "HEAD_SECONDS", 0.1)
    begun = time.monotonic()
    assert open_server.raw(sent) == b""
    assert time.monotonic() - begun < usual


def test_trailers_are_ignored(open_server: RunningServer) -> None:
    body = encode_message(Ping())
    request = (
        f"POST {FORWARD_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Type: application/vnd.gatelink.split.v1\r\nTransfer-Encoding: chunked\r\n\r\n"
        f"{len(body):x}\r\n"
    ).encode()
    answer = open_server.raw(request + body + b"\r\n0\r\nHost: evil.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")


def _life_of(address: object, monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event]:
    """Set when the server's connection to ``address`` is made, and when it is lost."""
    made, lost = Event(), Event()
    plain_made, plain_lost = BoundedHttp.connection_made, BoundedHttp.connection_lost

    def connection_made(self: BoundedHttp, transport: asyncio.Transport) -> None:
        plain_made(self, transport)
        if self.client == address:
            made.set()

    def connection_lost(self: BoundedHttp, exc: Exception | None) -> None:
        plain_lost(self, exc)
        if self.client == address:
            lost.set()

    monkeypatch.setattr(BoundedHttp, "connection_made", connection_made)
    monkeypatch.setattr(BoundedHttp, "connection_lost", connection_lost)
    return made, lost


def test_a_peer_that_asks_and_never_reads_is_cut_off(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocols, "STALL_SECONDS", 0.2)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.settimeout(PATIENCE)
        raw.bind(("127.0.0.1", 0))
        made, lost = _life_of(raw.getsockname(), monkeypatch)
        raw.connect(("127.0.0.1", open_server.port))
        raw.sendall(1000 * b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert made.wait(PATIENCE)
        assert lost.wait(PATIENCE)


def _read_since(connection: BoundedHttp, unread: list[int]) -> bool:
    """Look as the timer of ``connection`` does if its peer has read since it was set; the last of
    ``unread`` are the bytes that were left to read by then.
    """
    looked: Future[bool] = Future()

    def look() -> None:
        read = connection.transport.get_write_buffer_size() < unread[-1]
        watched = connection._unread_timer is not None
        if watched and read:
            connection._check_unread(unread[-1])
        looked.set_result(watched and read)

    connection.loop.call_soon_threadsafe(look)
    return looked.result(PATIENCE)


def test_a_peer_that_reads_slowly_is_waited_for(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread, plain = list[int](), BoundedHttp._watch_unread

    def watch(self: BoundedHttp) -> None:
        unread.append(self.transport.get_write_buffer_size())
        plain(self)

    monkeypatch.setattr(BoundedHttp, "_watch_unread", watch)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.settimeout(PATIENCE)
        raw.connect(("127.0.0.1", open_server.port))
        connections: set[Any] = open_server.server.server_state.connections
        mine = raw.getsockname()
        until(lambda: [one for one in set(connections) if one.client == mine])
        (connection,) = [one for one in set(connections) if one.client == mine]
        # What the system takes for a peer that reads nothing would be all of it.
        connection.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, 4096
        )
        raw.sendall(30 * request)
        until(lambda: connection._unread_timer)
        received, looks = b"", 0
        while received.count(b"HTTP/1.1 200") < 30:
            part = raw.recv(8192)
            assert part
            received += part
            looks += looks < 5 and _read_since(connection, unread)
        assert looks == 5


def test_one_connection_serves_many_requests(open_server: RunningServer) -> None:
    with open_server.client() as client:
        for _ in range(30):
            assert client.get("/health").status_code == 200


def test_a_request_that_is_not_http_is_refused(open_server: RunningServer) -> None:
    assert open_server.raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_a_peer_that_answers_no_ping_is_cut_off(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = open_server.server.config
    monkeypatch.setattr(config, "ws_ping_interval", 0.05)
    monkeypatch.setattr(config, "ws_ping_timeout", 0.05)
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        raw.sendall(_HANDSHAKE)
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 101")


def test_a_peer_that_sends_and_never_reads_is_not_buffered_for(open_server: RunningServer) -> None:
    ping = encode_message(Ping())
    # A client's frames are masked (RFC 6455, 5.3); a mask of zeros leaves the bytes as they are.
    frames = (b"\x82" + bytes([0x80 | len(ping)]) + bytes(4) + ping) * 1000
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=PATIENCE) as raw:
        raw.sendall(_HANDSHAKE)
        raw.recv(1000)
        raw.settimeout(0.5)
        sent = 0
        with contextlib.suppress(TimeoutError):
            while sent < 256 << 20:
                sent += raw.send(frames)
        # What was taken are the buffers of the two TCP stacks.
        assert sent < 64 << 20
        with open_server.socket() as other:
            other.send(ping)
            assert other.recv(timeout=PATIENCE)
