"""Servers that drip: a byte now and then, and never an end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from websockets.sync.server import ServerConnection

from split_client.adapters import listing
from split_client.errors import ConnectionLost, UpgradeRefused
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import HttpTransport
from split_client.transport.timed import TimedClient
from split_client.transport.websocket import WebSocketTransport
from split_client.weights import download
from split_client.weights.download import WeightsSource
from split_wire.codec import encode_message
from split_wire.messages import Ping
from tests.split_client.servers import socket_server

_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@contextmanager
def dripping(beginning: bytes) -> Iterator[Endpoint]:
    """Answers every connection with ``beginning`` and then a byte every few milliseconds."""
    stop = threading.Event()

    def drip(one: socket.socket) -> None:
        with one, contextlib.suppress(OSError):
            one.recv(65536)
            one.sendall(beginning)
            while not stop.wait(0.005):
                one.sendall(b"x")

    with _accepting(drip) as endpoint:
        try:
            yield endpoint
        finally:
            stop.set()


@contextmanager
def _accepting(serve: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield Endpoint.parse(f"127.0.0.1:{listener.getsockname()[1]}")
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nX-Drip: ", _LENGTH])
def test_an_exchange_over_http_ends_in_time(beginning: bytes) -> None:
    with dripping(beginning) as endpoint:
        transport = HttpTransport(endpoint, None, 1 << 20, 5.0)
        with pytest.raises(ConnectionLost, match=r"no whole answer within 0\.2 s"):
            transport.exchange(encode_message(Ping()), 0.2)
        transport.close()


def test_the_list_of_adapters_comes_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_SECONDS", 0.2)
    with dripping(_LENGTH) as endpoint, pytest.raises(ConnectionLost, match="no whole answer"):
        listing.fetch_adapters(endpoint, None)


def test_the_manifest_comes_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_MANIFEST_SECONDS", 0.2)
    with dripping(_LENGTH) as endpoint:
        source = WeightsSource(endpoint, None)
        with pytest.raises(ConnectionLost, match="no whole answer"):
            source.manifest()
        source.close()


def test_a_download_keeps_up_a_pace() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 10.0
        return now[0]

    with dripping(_LENGTH) as endpoint:
        source = WeightsSource(endpoint, None, clock=clock)
        with pytest.raises(ConnectionLost, match="bytes in"):
            list(source.read("embedding.bin", 0))
        source.close()


def test_a_websocket_handshake_ends_in_time() -> None:
    with dripping(b"HTTP/1.1 101 Switching") as endpoint, pytest.raises(UpgradeRefused):
        WebSocketTransport(endpoint, None, 1 << 20, 0.2)


def test_an_exchange_over_a_websocket_ends_in_time_although_something_always_comes() -> None:
    def handle(connection: ServerConnection) -> None:
        while True:
            connection.pong()
            threading.Event().wait(0.002)

    with socket_server(handle) as endpoint:
        transport = WebSocketTransport(endpoint, None, 1 << 20, 5.0)
        with pytest.raises(ConnectionLost, match="no answer in time"):
            transport.exchange(encode_message(Ping()), 0.2)
        transport.close()


def test_an_answer_in_time_is_whole_and_the_connection_is_used_again() -> None:
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    connections = []

    def serve(one: socket.socket) -> None:
        connections.append(one)
        with one:
            while one.recv(65536):
                one.sendall(body)

    with _accepting(serve) as endpoint, httpx.Client(trust_env=False) as client:
        timed = TimedClient(client)
        for _ in range(3):
            request = client.build_request("GET", endpoint.url)
            with timed.exchange(request, 5.0) as response:
                assert response.read() == b"ok"
    assert len(connections) == 1
