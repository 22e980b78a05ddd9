"""Connections without a token, over sockets: they never shut the door."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_server.http.wire import acceptor, protocols
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import TOKEN

_HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
_WEIGHTS = b"HEAD /weights/manifest.json HTTP/1.1\r\nHost: localhost\r\n"
_BEARER = f"Authorization: Bearer {TOKEN}\r\n".encode()


@pytest.fixture(scope="module")
def small_door(tiny_path: Path) -> Iterator[RunningServer]:
    """At most eight connections of one address."""
    with running_server(
        tiny_path, token=TOKEN, compat=False, max_connections_per_address=8
    ) as server:
        yield server


@pytest.fixture(autouse=True)
def _empty_door(request: pytest.FixtureRequest) -> None:
    """No place is taken by a connection of the test before."""
    if "small_door" in request.fixturenames:
        _until_empty(request.getfixturevalue("small_door"))


def _come(server: RunningServer, request: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), PATIENCE, (source, 0))
    if request:
        made.sendall(request)
        assert made.recv(65536)
    return made


def _ends(made: socket.socket) -> bool:
    try:
        while made.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("request_", [b"", _HEALTH, _WEIGHTS + b"\r\n"])
def test_strangers_give_way_to_whoever_comes_next(
    request_: bytes, small_door: RunningServer
) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(_come(small_door, request_))
        late = stack.enter_context(_come(small_door))
        late.sendall(_WEIGHTS + _BEARER + b"\r\n")
        assert late.recv(4096).startswith(b"HTTP/1.1 200")
        late.sendall(_WEIGHTS + _BEARER + b"\r\n")
        assert late.recv(4096).startswith(b"HTTP/1.1 200")


def test_who_was_let_in_stays_and_the_next_of_its_address_is_told(
    small_door: RunningServer,
) -> None:
    with contextlib.ExitStack() as stack:
        known = [
            stack.enter_context(_come(small_door, _WEIGHTS + _BEARER + b"\r\n")) for _ in range(8)
        ]
        refused = stack.enter_context(_come(small_door))
        answer = refused.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 503")
        assert b'"overloaded"' in answer
        with _come(small_door, _HEALTH, source="127.0.0.2"):
            pass
        for made in known:
            made.sendall(_HEALTH)
            assert made.recv(4096)
    _until_empty(small_door)


def test_a_websocket_keeps_its_place_until_it_is_gone(small_door: RunningServer) -> None:
    doors = small_door.server.config.doors  # type: ignore[attr-defined]
    with small_door.socket(additional_headers={"Authorization": f"Bearer {TOKEN}"}):
        assert len(doors) == 1
        assert not doors._strangers
    _until_empty(small_door)


def test_a_stranger_is_not_waited_for_as_long(
    small_door: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocols, "STRANGERS_KEEP_ALIVE_SECONDS", 0.05)
    with _come(small_door, _HEALTH) as stranger:
        assert _ends(stranger)


def test_a_handshake_that_does_not_come_is_given_up_and_keeps_nobody_out(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "HANDSHAKE_SECONDS", 0.2)
    settings = {"tls": "on", "state": tmp_path, "compat": False, "max_connections_per_address": 8}
    with (
        running_server(tiny_path, **settings) as server,
        contextlib.ExitStack() as stack,
    ):
        silent = [stack.enter_context(_come(server)) for _ in range(30)]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(_come(server), server_hostname="127.0.0.1") as late:
            late.sendall(_HEALTH)
            assert late.recv(4096).startswith(b"HTTP/1.1 200")
        assert all(_ends(made) for made in silent)
        _until_empty(server)


def _until_empty(server: RunningServer) -> None:
    until(lambda: not len(server.server.config.doors))  # type: ignore[attr-defined]
