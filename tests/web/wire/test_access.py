"""Tokens, paired devices and private authorities, as the web app's wire meets them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.pairing.link import PairingLink
from split_client.pairing.pair import pair
from split_client.transport.known import KnownServer, KnownServers
from split_server.pairing.commands import invitation
from split_server.pairing.pairing import Pairing
from split_server.pairing.state import StateFolder
from tests.server_process import RunningServer, running_server
from tests.web.wire.client import NodeClient, node_client, table_of

TOKEN = "a-token-of-enough-length"
_DEADLINE = 10.0


@pytest.fixture(scope="module")
def table(tiny_path: Path) -> NDArray[np.float32]:
    return table_of(tiny_path)


@pytest.fixture(scope="module")
def guarded(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, token=TOKEN) as running:
        yield running


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def secure(tiny_path: Path, state: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, tls="on", state=state) as running:
        yield running


def paired(server: RunningServer, state: Path, name: str, folder: Path) -> tuple[KnownServer, Path]:
    """A device, and a file with the server's authority."""
    link = invitation(StateFolder(state), server.url, time.time()).link
    known = pair(PairingLink.parse(link), name, KnownServers(folder))
    authority = folder / "authority.pem"
    authority.write_text(known.ca)
    return known, authority


def refusal(client: NodeClient) -> str:
    """The code with which steps fail, once they do."""
    deadline = time.monotonic() + _DEADLINE
    while time.monotonic() < deadline:
        answer = client.ask(extend=[1, 2, 3])
        if "error" in answer:
            return str(answer["error"])
    raise AssertionError("steps never fail")


@pytest.mark.parametrize("mode", ["websocket", "http", "auto"])
def test_the_right_token_is_let_in_and_any_other_is_told(
    guarded: RunningServer, table: NDArray[np.float32], tmp_path: Path, mode: str
) -> None:
    with node_client(guarded, table, tmp_path, guarded.url, mode, token=TOKEN) as client:
        assert "hidden" in client.ask(extend=[1, 2])
        wanted = "http" if mode == "http" else "websocket"
        assert client.ask(state=True)["transportName"] == wanted
    with node_client(guarded, table, tmp_path, guarded.url, mode, token="another" * 4) as client:
        assert client.ask(extend=[1, 2]) == {"error": "unauthorized"}


def test_a_revoked_device_is_told_so_and_then_stays_outside(
    secure: RunningServer, state: Path, table: NDArray[np.float32], tmp_path: Path
) -> None:
    known, authority = paired(secure, state, "phone", tmp_path)
    where = {"token": known.token, "authority": authority}
    with node_client(secure, table, tmp_path, secure.url, "auto", **where) as client:
        client.extend([1, 2])
        assert client.ask(state=True)["transportName"] == "websocket"
        Pairing(StateFolder(state), None).devices.revoke("phone")
        assert refusal(client) in ("device_revoked", "unauthorized")
        assert refusal(client) == "unauthorized"


def test_an_authority_that_is_not_trusted_is_given_up_in_time(
    secure: RunningServer, table: NDArray[np.float32], tmp_path: Path
) -> None:
    patience = {"total": 0.2, "firstDelay": 0.01}
    with node_client(secure, table, tmp_path, secure.url, "auto", patience=patience) as client:
        assert client.ask(extend=[1, 2]) == {"error": "server_unreachable"}
