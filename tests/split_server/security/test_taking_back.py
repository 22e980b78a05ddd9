"""Tokens that are taken back while their connections are open, over sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Open, Opened, Ping
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.unread import unread_socket

_ALICE, _BOB, _STUCK = "alice-has-this-token", "bob-has-that-token-1", "stuck-has-that-token"


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"alice {_ALICE}\nbob {_BOB}\nstuck {_STUCK}\n")
    return path


@pytest.fixture
def server(tiny_path: Path, tokens: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, token_file=tokens, compat=False) as running:
        yield running


def _is_reset(raw: socket.socket) -> bool:
    """The server's end is closed a moment after it has been forgotten."""
    try:
        raw.send(b"still there?")
    except TimeoutError:
        return False
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_removed_token_is_cut_and_the_others_stay(server: RunningServer, tokens: Path) -> None:
    store = server.parts.steps.store
    with (
        server.socket(additional_headers=_bearer(_ALICE)) as kept,
        server.socket(additional_headers=_bearer(_BOB)) as cut,
    ):
        for websocket in (kept, cut):
            websocket.send(encode_message(Open()))
            reply = websocket.recv(PATIENCE)
            assert isinstance(reply, bytes)
            assert isinstance(decode_server_message(reply, 1 << 20), Opened)
        tokens.write_text(f"alice {_ALICE}\n")
        with pytest.raises(ConnectionClosed) as closed:
            cut.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "revoked")
        assert {session.principal for session in store._all()} == {"alice"}
        assert server.post(encode_message(Ping()), **_bearer(_BOB)).status_code == 401
        kept.send(encode_message(Ping()))
        assert kept.recv(PATIENCE)


def test_whoever_does_not_read_is_cut_too_and_keeps_nobody_else_alive(
    server: RunningServer, tokens: Path
) -> None:
    connections = server.server.server_state.connections
    with (
        unread_socket(server, _STUCK) as stuck,
        server.socket(additional_headers=_bearer(_BOB)) as cut,
    ):
        assert len(connections) == 2
        tokens.write_text(f"alice {_ALICE}\n")
        with pytest.raises(ConnectionClosed) as closed:
            cut.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        until(lambda: not connections)
        # Nothing of it is left in the system either, for as long as it would not read.
        until(lambda: _is_reset(stuck))


def test_a_long_answer_that_nobody_reads_is_broken_off(server: RunningServer, tokens: Path) -> None:
    connections = server.server.server_state.connections
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", server.port))
        ask = "GET /weights/embedding.bin HTTP/1.1\r\nHost: localhost\r\n"
        raw.sendall(500 * f"{ask}Authorization: Bearer {_BOB}\r\n\r\n".encode())
        until(lambda: any(one.transport.get_write_buffer_size() for one in set(connections)))
        tokens.write_text(f"alice {_ALICE}\n")
        until(lambda: not connections)
