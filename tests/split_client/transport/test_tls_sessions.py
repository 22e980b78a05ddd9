"""TLS sessions that go on, and those that must not."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.transport.endpoint import Endpoint
from split_client.transport.tls import pinned_context
from split_client.transport.tls_sessions import TlsSessions
from tests.split_client.doctor.fronts import accepting, make_identity


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two authorities; the first of the list is the one that is pinned."""
    made = [tmp_path / name for name in ("one", "other")]
    for folder in made:
        folder.mkdir()
    pins = [make_identity(folder, "IP:127.0.0.1").certificate.read_text() for folder in made]
    where = "split_client.transport.tls_sessions"
    monkeypatch.setattr(f"{where}.pinned_authority", lambda _: pins[0])
    monkeypatch.setattr(f"{where}.tls_context", lambda _: pinned_context(pins[0]))
    return pins


@pytest.fixture
def server(tmp_path: Path, pins: list[str]) -> Iterator[Endpoint]:
    """Says a byte to everybody; its certificate is of the first authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "one/certificate.pem", tmp_path / "one/key.pem")

    def serve(near: socket.socket) -> None:
        with context.wrap_socket(near, server_side=True) as secured:
            secured.sendall(b"x")
            secured.recv(1)

    with accepting(serve) as port:
        yield Endpoint.parse(f"https://127.0.0.1:{port}")


def connected(sessions: TlsSessions, endpoint: Endpoint) -> bool:
    """Whether a connection that is used and closed went on from a session."""
    raw = socket.create_connection((endpoint.host, endpoint.port))
    with raw, sessions.wrap(raw, endpoint) as secured:
        assert secured.recv(1) == b"x"
        sessions.remember(secured)
        return bool(secured.session_reused)


def test_a_connection_to_the_same_server_goes_on_from_the_session(server: Endpoint) -> None:
    sessions = TlsSessions()
    assert [connected(sessions, server) for _ in range(3)] == [False, True, True]


def test_another_process_begins_with_a_whole_handshake(server: Endpoint) -> None:
    assert not connected(TlsSessions(), server)
    assert not connected(TlsSessions(), server)


def test_another_pin_has_the_certificate_verified_anew(server: Endpoint, pins: list[str]) -> None:
    sessions = TlsSessions()
    connected(sessions, server)
    pins.reverse()
    with pytest.raises(ssl.SSLCertVerificationError):
        connected(sessions, server)


def test_plain_sockets_have_nothing_to_remember() -> None:
    with socket.socket() as plain:
        TlsSessions().remember(plain)


def test_the_authorities_are_read_once_for_a_library_that_connects_by_itself(
    server: Endpoint, pins: list[str]
) -> None:
    sessions = TlsSessions()
    kept = sessions.context(server)
    assert sessions.context(server) is kept
    # Another pin wants another context, and so does whoever was not reached.
    pins.reverse()
    assert sessions.context(server) is not kept
    pins.reverse()
    sessions.forget(server)
    assert sessions.context(server) is not kept


def test_who_names_other_authorities_while_the_program_runs_is_heeded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, sessions = Endpoint.parse("https://127.0.0.1:1"), TlsSessions()
    kept = sessions.context(endpoint)
    assert sessions.context(endpoint) is kept
    own = make_identity(tmp_path, "IP:127.0.0.1").certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    named = sessions.context(endpoint)
    assert named is not kept
    os.utime(own, ns=(1, 1))
    assert sessions.context(endpoint) is not named
