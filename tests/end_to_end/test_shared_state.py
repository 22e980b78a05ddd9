"""Two servers behind one address share a state folder: who is paired at one is known to both."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from split_server.pairing.codes import PairingCodes
from split_server.pairing.devices import FILE, DeviceBook
from split_server.pairing.state import StateFolder
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Open, Opened, Ping, Pong
from tests.patience import PATIENCE, patient_with, until
from tests.server_process import FORWARD_PATH, STREAM_PATH, RunningServer, running_server

OWNER = "owner-has-this-token-1"


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(f"owner {OWNER}\n")
    return path


class Fleet:
    """Replicas ``a`` and ``b`` over ``state``."""

    def __init__(self, state: Path, a: RunningServer, b: RunningServer) -> None:
        self.state, self.both = state, (a, b)
        self.trust = ssl.create_default_context(cafile=state / "ca.pem")

    def answer(self, server: RunningServer, token: str, frame: bytes | None = None) -> Any:
        """What ``server`` answers to a ping, or another ``frame``, of whoever has ``token``."""
        headers = {"Content-Type": CONTENT_TYPE, "Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=server.url, verify=self.trust, trust_env=False) as client:
            frame = frame or encode_message(Ping())
            return client.post(FORWARD_PATH, content=frame, headers=headers, timeout=PATIENCE)

    def admits(self, token: str) -> list[int]:
        return [self.answer(server, token).status_code for server in self.both]

    def pair(self, server: RunningServer, code: str) -> httpx.Response:
        with httpx.Client(base_url=server.url, verify=self.trust, trust_env=False) as client:
            asked = {"code": code, "name": "phone"}
            return client.post("/api/v1/pair", json=asked, timeout=PATIENCE)

    def paired(self, server: RunningServer) -> str:
        code = PairingCodes(StateFolder(self.state)).make(time.time())
        token: str = self.pair(server, code).json()["token"]
        return token

    @contextmanager
    def socket(self, server: RunningServer, token: str) -> Iterator[ClientConnection]:
        with connect(
            f"wss://127.0.0.1:{server.port}{STREAM_PATH}",
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            compression=None,
            proxy=None,
            ssl=self.trust,
            additional_headers={"Authorization": f"Bearer {token}"},
        ) as socket:
            yield socket

    def healthy(self) -> None:
        for server in self.both:
            with httpx.Client(base_url=server.url, verify=self.trust, trust_env=False) as client:
                assert client.get("/health", timeout=PATIENCE).status_code == 200


def pinged(socket: ClientConnection) -> bool:
    socket.send(encode_message(Ping()))
    reply = socket.recv(PATIENCE)
    assert isinstance(reply, bytes)
    return isinstance(decode_server_message(reply, 1 << 20), Pong)


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory, tiny_path: Path, tokens: Path
) -> Iterator[Fleet]:
    state = tmp_path_factory.mktemp("shared") / "state"
    common: dict[str, Any] = {"tls": "on", "state": state, "token_file": tokens, "compat": False}
    with (
        running_server(tiny_path, replica="a", **common) as a,
        running_server(tiny_path, replica="b", **common) as b,
    ):
        yield Fleet(state, a, b)


@pytest.fixture
def fleet(servers: Fleet) -> Fleet:
    for server in servers.both:
        assert server.doorway.pairing is not None
        server.doorway.pairing._attempts.clear()
    return servers


def test_a_device_is_told_which_replica_holds_its_session(fleet: Fleet) -> None:
    told = []
    for server in fleet.both:
        answer = fleet.answer(server, OWNER, encode_message(Open()))
        opened = decode_server_message(answer.content, 1 << 20)
        assert isinstance(opened, Opened)
        told.append(opened.replica)
    assert told == ["a", "b"]


def test_paired_at_one_let_in_at_both_revoked_at_both(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = fleet.both
    for server in fleet.both:
        patient_with(server.doorway.pairing, monkeypatch)
    token = fleet.paired(a)
    assert fleet.admits(token) == [200, 200]
    with fleet.socket(a, token) as at_a, fleet.socket(b, token) as at_b:
        assert pinged(at_a)
        assert pinged(at_b)
        DeviceBook(StateFolder(fleet.state)).revoke("phone")
        for socket in (at_a, at_b):
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "revoked")
    assert fleet.admits(token) == [401, 401]


def test_wrong_codes_count_at_both(fleet: Fleet) -> None:
    told = [fleet.pair(fleet.both[number % 2], "AAAA-AAAA").status_code for number in range(12)]
    assert told == 10 * [403] + 2 * [429]


def test_tokens_that_change_on_the_shared_disk_change_at_both(fleet: Fleet, tokens: Path) -> None:
    added = "another-owner-has-this"
    before = tokens.read_text()
    tokens.write_text(f"{before}guest {added}\n")
    until(lambda: fleet.admits(added) == [200, 200])
    tokens.write_text(before)
    until(lambda: fleet.admits(added) == [401, 401])
    assert fleet.admits(OWNER) == [200, 200]


def test_a_state_that_is_gone_locks_devices_out_in_words_and_nobody_else(
    fleet: Fleet,
) -> None:
    a, b = fleet.both
    token, away = fleet.paired(a), fleet.state.with_name("away")
    with fleet.socket(a, token) as device, fleet.socket(b, OWNER) as owner:
        assert pinged(device)
        fleet.state.rename(away)
        try:
            with pytest.raises(ConnectionClosed) as closed:
                device.recv(PATIENCE)
            assert closed.value.rcvd is not None
            # Not 1008: a device that is told so throws its token away.
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (
                1013,
                "state_unavailable",
            )
            for server in fleet.both:
                refused = fleet.answer(server, token)
                assert refused.status_code == 503
                assert refused.json()["error"]["code"] == "state_unavailable"
                assert refused.json()["error"]["retryable"]
                assert "--state" in refused.json()["error"]["message"]
                assert refused.headers["Retry-After"]
            assert fleet.pair(b, "AAAA-AAAA").status_code == 503
            assert pinged(owner)
            fleet.healthy()
            # Nothing is left where the disk was.
            assert not fleet.state.exists()
        finally:
            away.rename(fleet.state)
    assert fleet.admits(token) == [200, 200]


@pytest.mark.parametrize("words", ["Read-only file system", "No space left on device"])
def test_a_state_that_takes_nothing_pairs_nobody_and_knows_those_that_are(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    token = fleet.paired(fleet.both[0])
    code = PairingCodes(StateFolder(fleet.state)).make(time.time())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, words)

    with monkeypatch.context() as patch:
        patch.setattr("split_server.pairing.state.write_whole", refuse)
        for server in fleet.both:
            refused = fleet.pair(server, code)
            assert (refused.status_code, refused.json()["error"]["code"]) == (
                503,
                "state_unavailable",
            )
        assert fleet.admits(token) == fleet.admits(OWNER) == [200, 200]
        fleet.healthy()
    # It was not used up.
    assert fleet.pair(fleet.both[1], code).status_code == 200


def test_a_state_that_hangs_holds_up_nobody_but_its_devices(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = fleet.both
    token, hangs = fleet.paired(a), threading.Event()
    version = StateFolder.version

    def slow(state: StateFolder, name: str) -> Any:
        assert hangs.wait(PATIENCE)
        return version(state, name)

    with fleet.socket(a, token) as device, fleet.socket(b, OWNER) as owner:
        assert pinged(device)
        with monkeypatch.context() as patch:
            patch.setattr(StateFolder, "version", slow)
            patch.setattr("split_server.pairing.known.FRESH", 0.3)
            with pytest.raises(ConnectionClosed) as closed:
                device.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
            assert [fleet.answer(s, token).status_code for s in fleet.both] == [503, 503]
            # Nobody waits for that disk.
            begun = time.monotonic()
            for _ in range(20):
                assert pinged(owner)
                fleet.healthy()
            assert time.monotonic() - begun < PATIENCE / 2
            hangs.set()
    until(lambda: fleet.admits(token) == [200, 200])


def test_what_devices_left_is_kept_while_nobody_knows_who_is_paired(
    fleet: Fleet,
) -> None:
    token = fleet.paired(fleet.both[0])
    device = DeviceBook(StateFolder(fleet.state)).devices()[-1]
    principal = device.principal
    opened = fleet.answer(fleet.both[0], token, encode_message(Open()))
    session = decode_server_message(opened.content, 1 << 20)
    assert isinstance(session, Opened)
    store = fleet.both[0].parts.steps.store
    whole = (fleet.state / FILE).read_bytes()
    (fleet.state / FILE).write_bytes(b"{")
    until(lambda: fleet.answer(fleet.both[0], token).status_code == 503)
    assert (principal, session.session) in store._sessions
    (fleet.state / FILE).write_bytes(whole)
    until(lambda: fleet.admits(token) == [200, 200])
    DeviceBook(StateFolder(fleet.state)).revoke(device.id)
    until(lambda: (principal, session.session) not in store._sessions)
