"""The WebSocket over a real socket: frames, limits, and sockets that misbehave."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import SUBPROTOCOL, Failure, Ping, Pong
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.gated import device, rows


@pytest.fixture
def websocket(open_server: RunningServer) -> Iterator[ClientConnection]:
    with open_server.socket() as websocket:
        yield websocket


def _open(websocket: ClientConnection, protocol: ClientProtocol) -> None:
    websocket.send(protocol.open())
    assert isinstance(protocol.receive(websocket.recv()), SessionOpened)


def _refusal(websocket: ClientConnection, message: bytes | str) -> str:
    websocket.send(message)
    reply = decode_server_message(websocket.recv(), 1 << 24)
    assert isinstance(reply, Failure)
    return reply.code


def _lives(websocket: ClientConnection) -> bool:
    websocket.send(encode_message(Ping()))
    return decode_server_message(websocket.recv(), 1 << 24) == Pong()


def test_the_subprotocol_is_agreed_and_nothing_is_compressed(websocket: ClientConnection) -> None:
    assert websocket.subprotocol == SUBPROTOCOL
    assert websocket.response is not None
    assert "Sec-WebSocket-Extensions" not in websocket.response.headers


def test_steps_are_answered_in_turn(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    protocol = device(open_server)
    _open(websocket, protocol)
    for start, count in ((0, 4), (4, 1), (5, 1), (2, 3)):
        websocket.send(protocol.step(start, rows(open_server, count)))
        event = protocol.receive(websocket.recv())
        assert isinstance(event, StepCompleted)
        assert event.cached == start + count


def test_several_messages_sent_at_once_are_answered_in_order(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    for _ in range(50):
        websocket.send(encode_message(Ping()))
    for _ in range(50):
        assert decode_server_message(websocket.recv(), 1 << 24) == Pong()


def test_text_on_a_binary_socket_is_refused_and_the_socket_lives(
    websocket: ClientConnection,
) -> None:
    assert _refusal(websocket, '{"type": "ping"}') == "malformed_frame"
    assert _lives(websocket)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 1000, 100_000])
def test_random_bytes_are_refused_and_the_socket_lives(
    size: int, websocket: ClientConnection
) -> None:
    assert _refusal(websocket, os.urandom(size)) == "malformed_frame"
    assert _lives(websocket)


def test_a_frame_a_little_too_large_is_refused_and_the_socket_lives(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    size = open_server.parts.framed.max_frame_bytes + 1
    assert _refusal(websocket, bytes(size)) == "frame_too_large"
    assert _lives(websocket)


def test_a_message_far_too_large_closes_the_socket_and_no_other(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    def send_and_listen() -> None:
        # The close frame may arrive while the message is still being sent.
        greedy.send(bytes(open_server.app.max_message_bytes + 1))
        greedy.recv()

    with open_server.socket() as greedy, pytest.raises(ConnectionClosed) as caught:
        send_and_listen()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009
    assert _lives(websocket)


def test_a_session_of_another_socket_is_not_disturbed_by_bad_input(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    protocol = device(open_server)
    _open(websocket, protocol)
    websocket.send(protocol.step(0, rows(open_server, 2)))
    protocol.receive(websocket.recv())
    with open_server.socket() as bad:
        _refusal(bad, os.urandom(100))
        bad.socket.close()
    websocket.send(protocol.step(2, rows(open_server)))
    assert isinstance(protocol.receive(websocket.recv()), StepCompleted)


def test_without_a_subprotocol_the_original_protocol_is_spoken(open_server: RunningServer) -> None:
    with open_server.socket(subprotocol=None) as websocket:
        websocket.send('{"type": "ping"}')
        assert json.loads(websocket.recv()) == {"type": "pong"}


def test_an_unknown_subprotocol_is_refused_before_the_socket_opens(
    open_server: RunningServer,
) -> None:
    with pytest.raises(InvalidStatus) as caught, open_server.socket(subprotocol="split.v9"):
        pass
    assert caught.value.response.status_code == 400
    assert "split.v1" in json.loads(caught.value.response.body or b"{}")["error"]["message"]


def test_a_routing_id_in_the_url_changes_nothing(open_server: RunningServer) -> None:
    url = f"ws://127.0.0.1:{open_server.port}/api/v1/split/stream?s=routing"
    with connect(url, subprotocols=[SUBPROTOCOL], proxy=None) as websocket:  # type: ignore[list-item]
        assert _lives(websocket)


def test_a_principal_has_a_limited_number_of_sockets(tiny_path: Path) -> None:
    with running_server(tiny_path, max_sockets=2) as server:
        with server.socket() as first, server.socket() as second:
            with pytest.raises(InvalidStatus) as caught, server.socket():
                pass
            assert caught.value.response.status_code == 503
            assert caught.value.response.headers["Retry-After"] == "1"
            assert _lives(first)
            assert _lives(second)
        with server.socket() as later:
            assert _lives(later)


def test_an_idle_socket_is_closed_with_going_away(tiny_path: Path) -> None:
    with running_server(tiny_path) as server:
        server.app._shared.sockets.idle_seconds = 0.1
        with server.socket() as websocket:
            with pytest.raises(ConnectionClosed) as caught:
                websocket.recv(timeout=PATIENCE)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1001


def test_a_step_after_a_lost_socket_is_answered_from_memory(open_server: RunningServer) -> None:
    protocol = device(open_server)
    with open_server.socket() as websocket:
        _open(websocket, protocol)
        frame = protocol.step(0, rows(open_server, 2))
        websocket.send(frame)
        first = websocket.recv()
        websocket.socket.close()
    with open_server.socket() as websocket:
        websocket.send(frame)
        assert websocket.recv() == first
        assert isinstance(protocol.receive(first), StepCompleted)


def test_a_refused_step_is_told_with_its_session_and_step(
    websocket: ClientConnection, open_server: RunningServer
) -> None:
    protocol = device(open_server)
    _open(websocket, protocol)
    frame = protocol.step(0, rows(open_server))
    websocket.send(frame)
    protocol.receive(websocket.recv())
    websocket.send(frame[:-1] + b"\x00")
    reply = decode_server_message(websocket.recv(), 1 << 24)
    assert isinstance(reply, Failure)
    assert protocol.opened is not None
    assert (reply.code, reply.session, reply.step) == (
        "step_conflict",
        protocol.opened.session,
        1,
    )
