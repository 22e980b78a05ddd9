"""TLS that fails, and plain HTTP where TLS is expected and the reverse."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from split_client.doctor.case import Case
from split_client.doctor.network import check_url
from split_client.doctor.tls import check_tls
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import BRIEF, findings, named
from tests.split_client.doctor.fronts import (
    accepting,
    behind_tls,
    hanging_up,
    make_identity,
    saying,
)
from tests.split_client.servers import deaf_server

_LOCAL = "IP:127.0.0.1"


def test_tls_on_a_port_of_plain_http_is_named(server: RunningServer) -> None:
    found = findings(f"https://127.0.0.1:{server.port}")
    assert named(found) == {"tls": "plain_http_here"}
    assert f"http://127.0.0.1:{server.port}" in found["tls"].advice


def test_plain_http_on_a_port_of_tls_is_named(server: RunningServer, tmp_path: Path) -> None:
    with accepting(behind_tls(server.port, make_identity(tmp_path, _LOCAL))) as port:
        found = findings(f"http://127.0.0.1:{port}")
    assert named(found) == {"server": "tls_here"}
    assert f"https://127.0.0.1:{port}" in found["server"].advice


def test_a_self_signed_certificate_is_named(server: RunningServer, tmp_path: Path) -> None:
    with accepting(behind_tls(server.port, make_identity(tmp_path, _LOCAL))) as port:
        found = findings(f"https://127.0.0.1:{port}")
    assert named(found) == {"tls": "certificate_self_signed"}


def test_a_certificate_for_another_name_is_named(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = make_identity(tmp_path, "DNS:chat.example.org")
    monkeypatch.setenv("SSL_CERT_FILE", str(identity.certificate))
    with accepting(behind_tls(server.port, identity)) as port:
        found = findings(f"https://127.0.0.1:{port}")
    assert named(found) == {"tls": "certificate_name"}


def test_an_expired_certificate_is_named(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = make_identity(tmp_path, _LOCAL, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(identity.certificate))
    with accepting(behind_tls(server.port, identity)) as port:
        assert named(findings(f"https://127.0.0.1:{port}")) == {"tls": "certificate_expired"}


def test_a_certificate_that_only_a_wrong_clock_expires_is_told_apart(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = make_identity(tmp_path, _LOCAL, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(identity.certificate))
    with accepting(behind_tls(server.port, identity)) as port:
        found = findings(f"https://127.0.0.1:{port}", wall=lambda: time.time() + 40 * 86400)
    assert named(found) == {"tls": "clock_wrong"}
    assert "40 days" in found["tls"].message


@pytest.mark.parametrize(("passed", "state"), [(0, "ok"), (80, "warning")])
def test_a_good_certificate_is_shown_with_its_days(
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    passed: int,
    state: str,
) -> None:
    identity = make_identity(tmp_path, _LOCAL)
    monkeypatch.setenv("SSL_CERT_FILE", str(identity.certificate))
    with accepting(behind_tls(server.port, identity)) as port:
        case = Case(f"https://127.0.0.1:{port}", wall=lambda: time.time() + passed * 86400)
        check_url(case)
        found = check_tls(case)
    assert (found.state, found.facts["days"]) == (state, 89 - passed)


def test_tls_to_a_port_that_speaks_something_else_is_named() -> None:
    with accepting(saying(b"SSH-2.0-OpenSSH_9.9\r\n")) as port:
        found = findings(f"https://127.0.0.1:{port}")
    assert named(found) == {"tls": "not_http"}
    assert "SSH-2.0" in found["tls"].message


def test_tls_to_a_port_that_hangs_up_is_named() -> None:
    with accepting(hanging_up) as port:
        assert named(findings(f"https://127.0.0.1:{port}")) == {"tls": "handshake_failed"}


def test_tls_to_a_port_that_stays_silent_is_named() -> None:
    with deaf_server() as endpoint:
        found = findings(f"https://127.0.0.1:{endpoint.port}", BRIEF)
    assert named(found) == {"tls": "silent"}


def test_plain_http_beyond_this_machine_is_warned_of() -> None:
    case = Case("http://192.0.2.1:8095")
    check_url(case)
    assert check_tls(case).cause == "not_encrypted"
