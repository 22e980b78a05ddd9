"""Commands name what is wrong with a connection in the doctor's words, and name the doctor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from split_client import cli
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import BRIEF, findings
from tests.split_client.doctor.fronts import (
    accepting,
    behind_tls,
    hanging_up,
    make_identity,
    saying,
)
from tests.split_client.servers import unused_endpoint

_LOCAL = "IP:127.0.0.1"


class Places:
    """Each method gives the URL of a place where no chat comes about."""

    def __init__(
        self, server: RunningServer, folder: Path, patch: pytest.MonkeyPatch, opened: ExitStack
    ) -> None:
        self._server, self._folder, self._patch, self._opened = server, folder, patch, opened

    def nothing_listens(self) -> str:
        return self._opened.enter_context(unused_endpoint()).url

    def unknown_host(self) -> str:
        return "http://no-such-machine.invalid:8095"

    def plain_http_here(self) -> str:
        return f"https://127.0.0.1:{self._server.port}"

    def tls_here(self) -> str:
        return self._tls(_LOCAL).replace("https", "http")

    def certificate_self_signed(self) -> str:
        return self._tls(_LOCAL)

    def certificate_name(self) -> str:
        return self._tls("DNS:chat.example.org", known=True)

    def certificate_expired(self) -> str:
        return self._tls(_LOCAL, days=-1, known=True)

    def authority_changed(self) -> str:
        (self._folder / "other").mkdir()
        other = make_identity(self._folder / "other", _LOCAL)
        url = self._tls(_LOCAL)
        self._pair(url, other.certificate.read_text())
        return url

    def not_http(self) -> str:
        return self._port(accepting(saying(b"SSH-2.0-x\n")))

    def handshake_failed(self) -> str:
        return self._port(accepting(hanging_up))

    def token_missing(self) -> str:
        return self._server.url

    def token_wrong(self) -> str:
        self._patch.setenv("SPLIT_CLIENT_TOKEN", "another")
        return self._server.url

    def token_revoked(self) -> str:
        self._pair(self._server.url, None)
        return self._server.url

    def _tls(self, names: str, days: int = 90, *, known: bool = False) -> str:
        identity = make_identity(self._folder, names, days)
        if known:
            self._patch.setenv("SSL_CERT_FILE", str(identity.certificate))
        port = self._opened.enter_context(accepting(behind_tls(self._server.port, identity)))
        return f"https://127.0.0.1:{port}"

    def _port(self, accepted: AbstractContextManager[int]) -> str:
        return f"https://127.0.0.1:{self._opened.enter_context(accepted)}"

    def _pair(self, url: str, ca: str | None) -> None:
        KnownServers().remember(Endpoint.parse(url), "taken-back", ca, "laptop", "1")


@contextmanager
def _places(server: RunningServer, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Places]:
    patch.setenv("SPLIT_DATA", str(folder / "data"))
    (folder / "config.toml").write_text("")
    patch.setenv("SPLIT_CONFIG", str(folder / "config.toml"))
    with ExitStack() as opened:
        yield Places(server, folder, patch, opened)


def _problem(url: str) -> tuple[str, str, str]:
    """The doctor's cause, message and advice."""
    known = KnownServers().find(Endpoint.parse(url))
    token = known.token if known else None
    found = findings(url, BRIEF, token=token, paired=known is not None)
    (problem,) = (finding for finding in found.values() if finding.state == "problem")
    return problem.cause, problem.message, problem.advice


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        ("nothing_listens", "server_unreachable"),
        ("unknown_host", "server_unreachable"),
        ("not_http", "server_unreachable"),
        ("handshake_failed", "server_unreachable"),
        ("plain_http_here", "plain_http_here"),
        ("tls_here", "tls_here"),
        ("certificate_self_signed", "certificate_self_signed"),
        ("certificate_name", "certificate_name"),
        ("certificate_expired", "certificate_expired"),
        ("authority_changed", "authority_changed"),
    ],
)
def test_a_connection_that_fails_is_told_as_the_doctor_tells_it(
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cause: str,
    code: str,
) -> None:
    with _places(server, tmp_path, monkeypatch) as places:
        url = getattr(places, cause)()
        named, message, advice = _problem(url)
        assert cli.main(["generate", "hello", "--url", url]) == 1
    said = capsys.readouterr().err
    if cause != "unknown_host":
        # A machine without a name server says dns_unavailable.
        assert named == cause
    doctor = f"split-client doctor --url {url} finds out more"
    assert said.endswith(f": {message}; {advice}; {doctor} [{code}]\n")


@pytest.mark.parametrize("cause", ["token_missing", "token_wrong", "token_revoked"])
@pytest.mark.parametrize("command", ["generate hello", "pull", "audit"])
def test_a_token_that_is_refused_is_told_as_the_doctor_tells_it(
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cause: str,
    command: str,
) -> None:
    with _places(server, tmp_path, monkeypatch) as places:
        url = getattr(places, cause)()
        assert cli.main([*command.split(), "--url", url]) == 1
        said = capsys.readouterr().err
        assert cli.main(["doctor", "--url", url]) == 1
        examined = " ".join(capsys.readouterr().out.split())
    assert f"[{cause}]" in examined
    words = said.removeprefix("error: ").removesuffix(" [unauthorized]\n")
    assert f"problem token: {words} [{cause}]" in examined
