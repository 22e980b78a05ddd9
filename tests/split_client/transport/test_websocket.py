from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

import pytest
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection
from websockets.typing import Subprotocol

from split_client.errors import ConnectionLost, ServerRefused, ServerUnreachable, UpgradeRefused
from split_client.transport import websocket
from split_client.transport.endpoint import Endpoint
from split_client.transport.websocket import WebSocketTransport
from tests.split_client.servers import (
    deaf_server,
    http_server,
    respond,
    socket_server,
    unused_endpoint,
)


def transport(endpoint: Endpoint, token: str | None = None, timeout: float = 5.0) -> Any:
    return WebSocketTransport(endpoint, token, 4096, timeout)


def test_a_frame_is_answered_by_the_next_message() -> None:
    with socket_server(lambda frame: frame[::-1]) as endpoint:
        connection = transport(endpoint)
        assert connection.exchange(b"abc", 5) == b"cba"
        assert connection.exchange(b"x" * 4096, 5) == b"x" * 4096
        connection.close()


def test_a_fragmented_answer_is_put_together() -> None:
    def handle(connection: ServerConnection) -> None:
        connection.recv()
        connection.send([b"one ", b"two ", b"three"])

    with socket_server(handle) as endpoint:
        connection = transport(endpoint)
        assert connection.exchange(b"x", 5) == b"one two three"
        connection.close()


def test_the_token_travels_as_a_bearer_header() -> None:
    seen: list[str | None] = []

    def handle(connection: ServerConnection) -> None:
        assert connection.request is not None
        seen.append(connection.request.headers.get("Authorization"))
        connection.send(connection.recv())

    with socket_server(handle) as endpoint:
        connection = transport(endpoint, "secret")
        connection.exchange(b"x", 5)
        connection.close()
    assert seen == ["Bearer secret"]


def test_an_answer_above_the_limit_is_refused_before_it_is_read() -> None:
    with socket_server(lambda _: bytes(5000)) as endpoint:
        connection = transport(endpoint)
        with pytest.raises(ServerRefused) as caught:
            connection.exchange(b"x", 5)
        connection.close()
    assert caught.value.code == "answer_too_large"


@pytest.mark.parametrize(("close", "code"), [(1009, "frame_too_large"), (1008, "policy_violation")])
def test_close_codes_with_a_meaning_are_refusals(close: int, code: str) -> None:
    def handle(connection: ServerConnection) -> None:
        connection.recv()
        connection.close(close)

    with socket_server(handle) as endpoint:
        connection = transport(endpoint)
        with pytest.raises(ServerRefused) as caught:
            connection.exchange(b"x", 5)
        connection.close()
    assert caught.value.code == code


def test_any_other_close_is_a_lost_connection() -> None:
    def handle(connection: ServerConnection) -> None:
        connection.recv()
        connection.close(1012)

    with socket_server(handle) as endpoint:
        connection = transport(endpoint)
        with pytest.raises(ConnectionLost, match="1012"):
            connection.exchange(b"x", 5)
        with pytest.raises(ConnectionLost):
            connection.exchange(b"x", 5)
        connection.close()


def test_a_connection_that_ends_without_a_word_is_lost() -> None:
    def handle(connection: ServerConnection) -> None:
        connection.recv()
        connection.socket.shutdown(socket.SHUT_RDWR)

    with socket_server(handle) as endpoint:
        connection = transport(endpoint)
        with pytest.raises(ConnectionLost):
            connection.exchange(b"x", 5)
        connection.close()


def test_an_upgrade_answered_by_a_web_page_leaves_http_to_be_tried() -> None:
    with http_server() as endpoint, pytest.raises(UpgradeRefused):
        transport(endpoint)


def test_an_upgrade_refused_in_the_servers_words_is_final() -> None:
    body = b'{"error": {"code": "unauthorized", "message": "a token is needed"}}'
    with (
        http_server(lambda handler: respond(handler, 401, body)) as endpoint,
        pytest.raises(ServerRefused) as caught,
    ):
        transport(endpoint)
    assert caught.value.code == "unauthorized"
    assert not caught.value.retryable


def test_an_upgrade_without_an_answer_gives_up_in_time() -> None:
    with deaf_server() as endpoint, pytest.raises(UpgradeRefused):
        transport(endpoint, timeout=0.2)


def test_an_address_where_nothing_listens_is_unreachable() -> None:
    with (
        unused_endpoint() as endpoint,
        pytest.raises(ServerUnreachable, match="nothing listens on port"),
    ):
        transport(endpoint)


def test_a_busy_server_that_answers_pings_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_AFTER", 0.05)

    def on_ping(protocol: ServerProtocol) -> None:
        # The answer comes only after the client has asked whether anybody is there.
        protocol.send_binary(b"done")

    with _bare_server(on_ping) as endpoint:
        connection = transport(endpoint)
        assert connection.exchange(b"x", 30) == b"done"
        connection.close()


def test_a_server_that_answers_not_even_pings_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_AFTER", 0.05)
    monkeypatch.setattr(websocket, "PONG_WITHIN", 0.1)
    with _bare_server(lambda protocol: protocol.data_to_send()) as endpoint:
        connection = transport(endpoint)
        with pytest.raises(ConnectionLost, match="no answer in time"):
            connection.exchange(b"x", 30)
        connection.close()


@contextmanager
def _bare_server(on_ping: Callable[[ServerProtocol], object]) -> Iterator[Endpoint]:
    """Upgrades one connection, answers nothing, and hands over its protocol when pinged."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve_bare, args=(listener, on_ping))
        thread.start()
        yield Endpoint.parse(f"127.0.0.1:{listener.getsockname()[1]}")
        thread.join()


def _serve_bare(listener: socket.socket, on_ping: Callable[[ServerProtocol], object]) -> None:
    protocol = ServerProtocol(subprotocols=[Subprotocol("split.v1")])
    accepted, _ = listener.accept()
    with accepted, contextlib.suppress(ConnectionError):
        while data := accepted.recv(65536):
            protocol.receive_data(data)
            for event in protocol.events_received():
                if isinstance(event, Request):
                    protocol.send_response(protocol.accept(event))
                elif isinstance(event, Frame) and event.opcode is Opcode.PING:
                    on_ping(protocol)
            accepted.sendall(b"".join(protocol.data_to_send()))


def test_empty_fragments_of_an_answer_are_not_kept() -> None:
    def handle(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(chain([b"one "], repeat(b"", 1000), [b"two"]))

    with socket_server(handle) as endpoint:
        connection = transport(endpoint)
        kept = list[int]()
        take_in = connection._take_in
        connection._take_in = lambda: (take_in(), kept.append(len(connection._parts)))
        assert connection.exchange(b"x", 5) == b"one two"
        connection.close()
    assert max(kept) <= 2
