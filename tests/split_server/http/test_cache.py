"""``/api/v1/cache`` over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_wire.client import ClientProtocol
from split_wire.digest import PrefixChain
from split_wire.tensor import Tensor
from tests.server_process import RunningServer, running_server

_PATH = "/api/v1/cache"
TOKENS = {"ann": "a" * 32, "bob": "b" * 32}


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    tokens.chmod(0o600)
    with running_server(tiny_path, token_file=tokens) as running:
        yield running


@pytest.fixture(autouse=True)
def _empty(server: RunningServer) -> None:
    for name in TOKENS:
        purge(server, name)


def rows(server: RunningServer, seed: int, count: int = 80) -> np.ndarray:
    width = server.parts.steps.info.hidden_size
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def chat(server: RunningServer, name: str, sent: np.ndarray, salt: str | None = None) -> Any:
    """A device that has sent some rows."""
    device = ClientProtocol(sent.shape[1], server.manifest, "f32", salt)
    device.receive(server.post(device.open(), **head(name)).content)
    device.receive(server.post(device.step(0, sent), **head(name)).content)
    assert device.cached == len(sent)
    return device


def found(server: RunningServer, name: str, sent: np.ndarray, salt: str | None = None) -> int:
    """Positions that a new session begins with."""
    chain = PrefixChain(server.manifest)
    chain.replace(0, chain.following(0, Tensor.from_f32(sent, "f32")))
    device = ClientProtocol(sent.shape[1], server.manifest, "f32", salt)
    device.receive(server.post(device.open(chain), **head(name)).content)
    cached = device.cached
    closing = device.close()
    assert closing is not None
    server.post(closing, **head(name))
    return cached


def head(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[name]}"}


def figures(server: RunningServer, name: str) -> dict[str, Any]:
    with server.client() as client:
        answer = client.get(_PATH, headers=head(name))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    document: dict[str, Any] = answer.json()
    return document


def purge(server: RunningServer, name: str, body: Any = None) -> dict[str, int]:
    with server.client() as client:
        answer = client.request("DELETE", _PATH, headers=head(name), json=body)
    assert answer.status_code == 200, answer.text
    freed: dict[str, int] = answer.json()
    return freed


def test_it_tells_a_principal_of_its_own_runs_alone(server: RunningServer) -> None:
    chat(server, "ann", rows(server, 1))
    mine, others = figures(server, "ann"), figures(server, "bob")
    assert mine["reuse"] == "exact"
    assert mine["runs"] >= 1
    assert 0 < mine["bytes"] <= mine["limit_bytes"]
    assert (mine["ttl_seconds"], mine["pinned_bytes"], mine["disk"]) == (3600, 0, None)
    assert (others["runs"], others["bytes"]) == (0, 0)


def test_a_purge_deletes_what_is_ones_own_and_says_how_much(server: RunningServer) -> None:
    sent = rows(server, 2)
    chat(server, "ann", sent)
    chat(server, "bob", sent)
    before = figures(server, "ann")
    assert purge(server, "ann") == {"runs": before["runs"], "bytes": before["bytes"]}
    assert (found(server, "ann", sent), found(server, "bob", sent)) == (0, 80)
    assert purge(server, "ann") == {"runs": 0, "bytes": 0}


def test_a_purge_of_a_salt_leaves_what_has_another_one(server: RunningServer) -> None:
    sent = rows(server, 3)
    for salt in ("one", "two", None):
        chat(server, "ann", sent, salt)
    assert purge(server, "ann", {"cache_salt": "one"})["runs"] >= 1
    assert [found(server, "ann", sent, salt) for salt in ("one", "two", None)] == [0, 80, 80]


def test_a_chat_that_is_closed_without_keeping_it_is_gone_and_what_others_share_is_not(
    server: RunningServer,
) -> None:
    system = rows(server, 4, 64)
    one = np.concatenate([system, rows(server, 5)])
    other = np.concatenate([system, rows(server, 6)])
    closing = chat(server, "ann", one).close(keep=False)
    chat(server, "ann", other)
    first = server.post(closing, **head("ann"))
    assert first.status_code == 200
    assert found(server, "ann", one) == 64
    assert found(server, "ann", other) == 144


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{", b'{"cache_salt": 5}', b'{"salt": "x"}', b'{"cache_salt": "%s"}' % (b"s" * 257)],
)
def test_a_body_of_another_form_is_refused_and_deletes_nothing(
    server: RunningServer, body: bytes
) -> None:
    sent = rows(server, 7)
    chat(server, "ann", sent)
    with server.client() as client:
        answer = client.request("DELETE", _PATH, headers=head("ann"), content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert found(server, "ann", sent) == 80


def test_without_a_token_there_is_no_answer(server: RunningServer) -> None:
    with server.client() as client:
        assert client.get(_PATH).status_code == 401
        assert client.delete(_PATH).status_code == 401


def test_where_nothing_is_kept_it_says_so(tiny_path: Path) -> None:
    with running_server(tiny_path, kv_reuse="off") as running, running.client() as client:
        assert client.get(_PATH).json() == {
            "reuse": "off",
            "tiers": [],
            "runs": 0,
            "bytes": 0,
            "limit_bytes": 0,
            "ttl_seconds": 0,
            "pinned_bytes": 0,
            "disk": None,
        }
        assert client.delete(_PATH).json() == {"runs": 0, "bytes": 0}
