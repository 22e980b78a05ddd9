"""Clients that read nothing while their token is taken back: over TLS, and of an event stream."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server

_ALICE, _BOB = "alice-has-this-token", "bob-has-that-token-1"
_ASKED = {"prompt": [5] * 8, "max_tokens": 400, "stream": True, "logprobs": 5, "n": 8}


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {_BOB}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"alice {_ALICE}\nbob {_BOB}\n")
    return path


@contextlib.contextmanager
def _unread(server: RunningServer, asked: bytes) -> Iterator[socket.socket]:
    """A connection on which ``asked`` is answered and nothing is read, until the server holds
    what its system does not take.
    """
    connections: set[Any] = server.server.server_state.connections
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(PATIENCE)
        plain.connect(("127.0.0.1", server.port))
        raw = _secured(plain) if server.url.startswith("https") else plain
        with raw:
            until(lambda: connections)
            (connection,) = connections
            connection.transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_SNDBUF, 4096
            )
            raw.sendall(asked)
            until(connection.transport.get_write_buffer_size)
            yield raw


def _secured(plain: socket.socket) -> socket.socket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain)


def _cut(server: RunningServer, tokens: Path) -> None:
    """Take the token back; its connection goes, whatever its peer reads."""
    connections = server.server.server_state.connections
    assert len(connections) == 1
    tokens.write_text(f"alice {_ALICE}\n")
    until(lambda: not connections)


def test_over_tls_it_is_cut(tiny_path: Path, tokens: Path, tmp_path: Path) -> None:
    settings = {"tls": "on", "state": tmp_path / "state", "compat": False}
    asked = 100 * _request("GET", "/weights/embedding.bin")
    with (
        running_server(tiny_path, token_file=tokens, **settings) as server,
        _unread(server, asked),
    ):
        _cut(server, tokens)


def test_an_event_stream_is_cut_and_its_replies_end(tiny_path: Path, tokens: Path) -> None:
    with running_server(tiny_path, token_file=tokens) as server:
        assert server.parts.compat is not None
        places = server.parts.compat.generator.places
        body = json.dumps({"model": tiny_path.name} | _ASKED).encode()
        with _unread(server, _request("POST", "/v1/completions", body)):
            assert places.running
            _cut(server, tokens)
            until(lambda: not places.running)
