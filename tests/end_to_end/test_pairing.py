"""A device pairs with a real server over TLS, chats through the real relay, and is revoked."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from split_client import cli
from split_client.api import SplitClient
from split_client.errors import ServerRefused, ServerUnreachable
from split_client.generation.sampling.params import SamplingParams
from split_client.pairing.errors import (
    FingerprintNotConfirmed,
    PairingFailed,
    WrongAuthority,
)
from split_client.pairing.link import PairingLink
from split_client.pairing.pair import pair
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServer, KnownServers
from split_server import cli as server_cli
from split_server.pairing.commands import invitation
from split_server.pairing.pairing import Pairing
from split_server.pairing.state import StateFolder
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import SUBPROTOCOL, Ping, Pong
from tests.end_to_end.relays import running_relay
from tests.patience import PATIENCE, patient_with, until
from tests.server_process import STREAM_PATH, RunningServer, running_server

QUESTION = [{"role": "user", "content": "What is split inference?"}]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def server(state: Path) -> Iterator[RunningServer]:
    with running_server(tls="on", state=state) as running:
        yield running


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnownServers:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path))
    return KnownServers()


@pytest.fixture(autouse=True)
def _patience(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts per minute are another test's subject, and so is a disk that is slow."""
    patient_with(server.doorway.pairing, monkeypatch)
    assert server.doorway.pairing is not None
    server.doorway.pairing._attempts.clear()


def _link(url: str, state: Path) -> str:
    return invitation(StateFolder(state), url, time.time()).link


def _paired(url: str, state: Path, servers: KnownServers, name: str = "laptop") -> KnownServer:
    return pair(PairingLink.parse(_link(url, state)), name, servers)


def _secure(url: str) -> str:
    return url.replace("http://", "https://")


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_paired_device_chats_through_the_relay_over_verified_tls(
    server: RunningServer, state: Path, servers: KnownServers, transport: str
) -> None:
    with running_server() as plain, SplitClient(plain.url) as client:
        expected = client.chat(QUESTION, SamplingParams()).read()
    with running_relay(server.port) as relay:
        url = _secure(relay)
        known = _paired(url, state, servers)
        with SplitClient(url, token=known.token, transport=transport) as client:  # type: ignore[arg-type]
            assert client.chat(QUESTION, SamplingParams()).read() == expected
            assert client.stats.transport == transport


def test_without_pairing_the_certificate_is_not_believed(
    server: RunningServer, servers: KnownServers
) -> None:
    with (
        pytest.raises(ServerUnreachable, match="not paired with the server"),
        SplitClient(server.url),
    ):
        pass


def test_the_commands_pair_list_and_revoke(
    server: RunningServer, state: Path, servers: KnownServers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert server_cli.main(["pair", "--state", str(state), "--url", server.url]) == 0
    shown = capsys.readouterr().out
    (link,) = [word.strip("'") for word in shown.split() if "/pair#" in word]
    assert "for one device, for 5 minutes" in shown
    assert cli.main(["pair", link, "--name", "my laptop"]) == 0
    assert f"split-client chat --url {server.url}" in capsys.readouterr().err
    assert cli.main(["generate", "hi", "--url", server.url, "--temperature", "0"]) == 0
    assert capsys.readouterr().out.strip()
    assert server_cli.main(["devices", "--state", str(state)]) == 0
    assert "my laptop" in capsys.readouterr().out
    assert server_cli.main(["devices", "revoke", "my laptop", "--state", str(state)]) == 0
    capsys.readouterr()
    assert cli.main(["generate", "hi", "--url", server.url]) == 1
    assert "[unauthorized]" in capsys.readouterr().err
    assert cli.main(["unpair", server.url]) == 0
    assert servers.all() == []


def test_a_code_that_was_used_fails_and_pairs_nobody(
    server: RunningServer, state: Path, servers: KnownServers, tmp_path: Path
) -> None:
    link = PairingLink.parse(_link(server.url, state))
    pair(link, "phone", servers)
    thief = KnownServers(tmp_path / "thief")
    with pytest.raises(ServerRefused) as refused:
        pair(link, "thief", thief)
    assert refused.value.code == "pairing_refused"
    assert thief.all() == []


@pytest.mark.parametrize("token", [None, "a-token-of-16-letters"])
def test_a_server_in_plain_http_is_told_to_pair_nobody(
    servers: KnownServers, token: str | None
) -> None:
    with running_server(token=token) as plain:
        link = PairingLink.parse(f"{plain.url}/pair#ABCDEFGH")
        with pytest.raises(PairingFailed, match=r"pairs no devices.*--token.*--tls on"):
            pair(link, "laptop", servers)
    assert servers.all() == []


def test_a_link_of_another_server_sends_no_code(
    server: RunningServer, state: Path, servers: KnownServers, tmp_path: Path
) -> None:
    with running_server(tls="on", state=tmp_path / "other"):
        text = _link(server.url, tmp_path / "other")
    with pytest.raises(WrongAuthority):
        pair(PairingLink.parse(text), "phone", servers)
    assert server.doorway.pairing is not None
    assert len(server.doorway.pairing._attempts) == 0
    assert servers.all() == []


def test_a_typed_code_needs_the_fingerprint_to_be_confirmed(
    server: RunningServer, state: Path, servers: KnownServers
) -> None:
    code = invitation(StateFolder(state), server.url, time.time()).code
    link = PairingLink.parse(server.url, code)
    with pytest.raises(FingerprintNotConfirmed):
        pair(link, "phone", servers)
    seen: list[bytes] = []

    def confirm(mark: bytes) -> bool:
        seen.append(mark)
        return True

    pair(link, "phone", servers, confirm)
    assert server.doorway.certificate is not None
    assert seen == [server.doorway.certificate.authority.fingerprint]


def test_a_server_that_the_system_believes_needs_no_fingerprint(
    server: RunningServer,
    state: Path,
    servers: KnownServers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = invitation(StateFolder(state), server.url, time.time()).code
    monkeypatch.setenv("SSL_CERT_FILE", str(state / "ca.pem"))
    known = pair(PairingLink.parse(server.url, code), "believer", servers)
    assert known.ca is None
    with SplitClient(server.url, token=known.token, cache=tmp_path / "cache") as client:
        assert client.chat(QUESTION, SamplingParams(), max_tokens=2).read()


def test_a_revoked_device_is_cut_off_in_the_middle_of_its_connection(
    server: RunningServer, state: Path, servers: KnownServers
) -> None:
    known, other = (_paired(server.url, state, servers, name) for name in ("gone", "stays"))
    context = ssl.create_default_context(cadata=known.ca)
    address = f"wss://127.0.0.1:{server.port}{STREAM_PATH}"

    def opened(token: str) -> ClientConnection:
        headers = {"Authorization": f"Bearer {token}"}
        return connect(
            address,
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            ssl=context,
            additional_headers=headers,
            proxy=None,
            open_timeout=PATIENCE,
        )

    with opened(known.token) as cut, opened(other.token) as kept:
        for socket in (cut, kept):
            socket.send(encode_message(Ping()))
            assert decode_server_message(socket.recv(PATIENCE), 1 << 16) == Pong()
        Pairing(StateFolder(state), None).devices.revoke("gone")
        with pytest.raises(ConnectionClosed) as closed:
            cut.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "revoked")
        kept.send(encode_message(Ping()))
        assert decode_server_message(kept.recv(PATIENCE), 1 << 16) == Pong()


def test_a_revoked_device_gets_no_more_of_an_answer_that_streams(
    server: RunningServer, state: Path, servers: KnownServers
) -> None:
    known = _paired(server.url, state, servers, "streams")
    context = ssl.create_default_context(cadata=known.ca)
    model = server.parts.steps.info.name
    body = {"model": model, "prompt": "Tell me a story", "max_tokens": 3000, "stream": True}
    # The end of a reply is the one token that the embedded model may not choose here.
    body["logit_bias"] = {str(token): -100 for token in server.parts.steps.info.eos_token_ids}
    headers = {"Authorization": f"Bearer {known.token}"}
    lines: list[str] = []

    def read() -> None:
        with httpx.Client(
            verify=context, timeout=PATIENCE, headers=headers, trust_env=False
        ) as client:
            url = f"{server.url}/v1/completions"
            with client.stream("POST", url, json=body) as response:
                for line in response.iter_lines():
                    if not lines:
                        Pairing(StateFolder(state), None).devices.revoke("streams")
                    lines.append(line)

    with pytest.raises(httpx.HTTPError):
        read()
    assert lines
    assert "data: [DONE]" not in lines


def test_sessions_of_a_revoked_device_are_dropped(
    server: RunningServer, state: Path, servers: KnownServers
) -> None:
    known = _paired(server.url, state, servers, "leaves")
    with SplitClient(server.url, token=known.token) as client:
        client.conversation().send("hi").read()
        principal = f"device:{known.id}"
        store = server.parts.steps.store
        assert any(session.principal == principal for session in store._all())
        Pairing(StateFolder(state), None).devices.revoke("leaves")
        until(lambda: all(session.principal != principal for session in list(store._all())))


def test_a_stranger_may_see_the_authority_and_try_a_code(server: RunningServer) -> None:
    assert server.doorway.certificate is not None
    authority = server.doorway.certificate.authority
    context = ssl.create_default_context(cadata=authority.pem.decode())
    with httpx.Client(base_url=server.url, verify=context, trust_env=False) as client:
        assert client.get("/ca.crt").content == authority.der
        assert client.get("/weights/manifest.json").status_code == 401
        wrong = client.post("/api/v1/pair", json={"code": "ZZZZ-ZZZZ", "name": "x"})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (403, "pairing_refused")


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"code": 5, "name": "x"}', json.dumps({"code": "A" * 300}).encode()],
)
def test_a_body_that_is_no_pairing_is_told_and_counts_no_attempt(
    server: RunningServer, body: bytes
) -> None:
    assert server.doorway.certificate is not None
    assert server.doorway.pairing is not None
    context = ssl.create_default_context(cadata=server.doorway.certificate.authority.pem.decode())
    with httpx.Client(base_url=server.url, verify=context, trust_env=False) as client:
        answer = client.post("/api/v1/pair", content=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
        long = client.post("/api/v1/pair", content=b"x" * 5000)
        assert long.json()["error"]["code"] == "frame_too_large"
    assert len(server.doorway.pairing._attempts) == 0


def test_a_page_on_a_foreign_origin_can_neither_pair_nor_open_the_socket(
    server: RunningServer, state: Path, servers: KnownServers
) -> None:
    known = _paired(server.url, state, servers, "browser")
    context = ssl.create_default_context(cadata=known.ca)
    foreign = {"Origin": "https://evil.example", "Authorization": f"Bearer {known.token}"}
    with httpx.Client(base_url=server.url, verify=context, trust_env=False) as client:
        for path in ("/weights/manifest.json", "/pair"):
            answer = client.get(path, headers=foreign)
            assert answer.json()["error"]["code"] == "forbidden_origin"
        answer = client.post("/api/v1/pair", json={"code": "A", "name": "x"}, headers=foreign)
        assert answer.json()["error"]["code"] == "forbidden_origin"


def test_a_server_that_was_paired_and_now_shows_another_authority_is_not_believed(
    server: RunningServer, state: Path, servers: KnownServers, tmp_path: Path
) -> None:
    with running_server(tls="on", state=tmp_path / "imposter") as imposter:
        endpoint = Endpoint.parse(imposter.url)
        known = _paired(server.url, state, servers)
        servers.remember(endpoint, known.token, known.ca, known.name, known.id)
        with (
            pytest.raises(ServerUnreachable, match="another certificate authority than the one"),
            SplitClient(imposter.url, token=known.token),
        ):
            pass
