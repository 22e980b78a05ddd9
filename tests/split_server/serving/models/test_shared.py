"""What all models of a server have in common: principals, quotas, sockets, what is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.serving.models.shared import Shared
from split_server.sessions.store import SessionStore
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import SUBPROTOCOL, Failure, Open, Opened
from tests.patience import PATIENCE, until
from tests.server_process import STREAM_PATH, RunningServer, running_server
from tests.split_server.serving.models.test_door import COUNT, HELLO, expected, unload

_ALICE, _BOB = "alice-has-this-token", "bob-has-that-token-1"


@contextmanager
def kept(tiny_path: Path, other_path: Path, **settings: Any) -> Iterator[RunningServer]:
    """A server of both models under the keeper that servers have."""
    models = (f"first={tiny_path}", f"other={other_path}")
    with running_server(models, dtype="float32", **settings) as running:
        yield running


def socket_at(server: RunningServer, below: str, token: str | None = None) -> ClientConnection:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return connect(
        f"ws://127.0.0.1:{server.port}{below}{STREAM_PATH}",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        additional_headers=headers,
        compression=None,
        proxy=None,
        open_timeout=PATIENCE,
    )


def opened(socket: ClientConnection) -> None:
    socket.send(encode_message(Open()))
    reply = socket.recv(PATIENCE)
    assert isinstance(reply, bytes)
    assert isinstance(decode_server_message(reply, 1 << 20), Opened)


def stores(server: RunningServer) -> list[SessionStore]:
    return [room.parts.steps.store for room in server.app.rooms.rooms()]


def principals(server: RunningServer) -> list[set[str]]:
    return [{session.principal for session in store._all()} for store in stores(server)]


def settled(server: RunningServer) -> bool:
    """Whether there are no sessions, and nothing is being kept of any.

    Looked at on the event loop, where a session that ends is on its way to be kept at once.
    """

    async def looked() -> bool:
        reuses = [room.parts.steps.reuse for room in server.app.rooms.rooms()]
        kept = not any(reuse.parking for reuse in reuses if reuse is not None)
        return kept and not any([*store._all(), *store._parking] for store in stores(server))

    return asyncio.run_coroutine_threadsafe(looked(), server.loop).result(PATIENCE)


def learnt(server: RunningServer) -> bool:
    """Whether every model is there and knows what lies on disk."""
    rooms = server.app.rooms.rooms()
    reuses = [room.parts.steps.reuse for room in rooms]
    disks = [reuse.disk for reuse in reuses if reuse is not None and reuse.disk is not None]
    return len(disks) == 2 and all(disk.index.ready.is_set() for disk in disks)


def test_a_token_that_is_taken_back_is_cut_off_from_every_model(
    tiny_path: Path, other_path: Path, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"alice {_ALICE}\nbob {_BOB}\n")
    with (
        kept(tiny_path, other_path, token_file=tokens) as server,
        socket_at(server, "", _BOB) as root,
        socket_at(server, "/m/other", _BOB) as below,
        socket_at(server, "/m/other", _ALICE) as stays,
    ):
        for socket in (root, below, stays):
            opened(socket)
        asked = {"model": "other", "input": HELLO, "store": True, "max_output_tokens": 2}
        with server.client(headers={"Authorization": f"Bearer {_BOB}"}) as client:
            client.post("/v1/responses", json=asked).raise_for_status()
        assert len(server.app._shared.responses) == 1
        assert principals(server) == [{"bob"}, {"alice", "bob"}]
        tokens.write_text(f"alice {_ALICE}\n")
        for socket in (root, below):
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.reason == "revoked"
        until(lambda: principals(server) == [set(), {"alice"}])
        assert len(server.app._shared.responses) == 0
        opened(stays)


def test_sockets_of_all_models_count_together(tiny_path: Path, other_path: Path) -> None:
    with (
        kept(tiny_path, other_path, max_sockets=3) as server,
        socket_at(server, ""),
        socket_at(server, "/m/first"),
        socket_at(server, "/m/other"),
    ):
        for below in ("", "/m/first", "/m/other"):
            with pytest.raises(InvalidStatus) as refused:
                socket_at(server, below).close()
            assert refused.value.response.status_code == 503
        assert len(server.app._shared.sockets) == 3


def test_what_is_deleted_of_a_caller_is_deleted_in_all_models(
    tiny_path: Path, other_path: Path, tmp_path: Path
) -> None:
    prompt = [{"role": "user", "content": "What is split inference? " * 8}]
    for deleted_at in ("", "/m/other"):
        with kept(tiny_path, other_path) as server, server.client() as client:
            for below in ("", "/m/other"):
                with SplitClient(f"{server.url}{below}", cache=tmp_path) as device:
                    device.chat(prompt, SamplingParams(), max_tokens=40).read()
            # What a session held is kept once it is gone.
            until(partial(settled, server))
            paths = ("/api/v1/cache", "/m/other/api/v1/cache")
            before = [client.get(path).json()["runs"] for path in paths]
            freed = client.delete(f"{deleted_at}/api/v1/cache").json()
            after = [client.get(path).json()["runs"] for path in paths]
        assert min(before) > 0
        # More may have been kept since they were counted.
        assert freed["runs"] >= sum(before)
        assert after == [0, 0]


def test_a_model_that_was_let_go_comes_back_for_the_next_reply(
    tiny_path: Path, other_path: Path, tmp_path: Path
) -> None:
    with kept(tiny_path, other_path) as server:
        with SplitClient(f"{server.url}/m/other", cache=tmp_path) as device:
            replies = []
            for _ in range(2):
                reply = device.chat(HELLO, SamplingParams(), max_tokens=COUNT)
                reply.read()
                replies.append(reply.token_ids)
                unload(server, "other")
        with server.client() as client:
            models = client.get("/api/v1/models").json()["models"]
            metrics = client.get("/metrics").text
    assert replies == [expected(other_path)] * 2
    assert models[1]["state"] == "unloaded"
    # What it told of itself while it was there.
    assert (models[1]["dtype"], models[1]["context"]) == ("f32", 512)
    assert 'split_model_loads_total{model="other"} 2.0' in metrics
    assert 'split_model_unloads_total{model="other"} 2.0' in metrics
    assert 'split_model_state{model="first",state="loaded"} 1.0' in metrics
    assert 'split_model_state{model="other",state="unloaded"} 1.0' in metrics


def test_metrics_below_a_name_are_that_models_alone(tiny_path: Path, other_path: Path) -> None:
    with kept(tiny_path, other_path) as server, server.client() as client:
        asked = {"model": "other", "prompt": "Hi", "max_tokens": 4, "temperature": 0}
        client.post("/v1/completions", json=asked).raise_for_status()
        root, other = client.get("/metrics").text, client.get("/m/other/metrics").text
    ended = "split_generations_ended_total"
    assert (f"{ended} 0.0" in root, f"{ended} 1.0" in other) == (True, True)
    # What is the process's is told once.
    for name in ("process_cpu_seconds_total", "split_ready", "split_model_state"):
        assert (name in root, name in other) == (True, False)


def test_shutting_down_answers_and_ends_all_models(tiny_path: Path, other_path: Path) -> None:
    with kept(tiny_path, other_path) as server, socket_at(server, "/m/other") as below:
        opened(below)
        rooms = list(server.app.rooms.rooms())
        server.stop()
        with pytest.raises(ConnectionClosed) as closed:
            below.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        assert [room.parts.steps._stopping for room in rooms] == [True, True]


def test_a_model_that_comes_while_the_server_leaves_takes_no_sessions(
    tiny_path: Path, other_path: Path
) -> None:
    with kept(tiny_path, other_path) as server:
        server.loop.call_soon_threadsafe(server.app.leave)
        with socket_at(server, "/m/other") as below:
            below.send(encode_message(Open()))
            reply = below.recv(PATIENCE)
        assert isinstance(reply, bytes)
        failure = decode_server_message(reply, 1 << 20)
    assert isinstance(failure, Failure)
    assert failure.code == "shutting_down"


def test_messages_of_a_wider_model_fit_before_it_is_there(
    tiny_path: Path, other_path: Path
) -> None:
    with kept(tiny_path, other_path) as server:
        shared: Shared = server.app._shared
        before = shared.max_message_bytes

        async def expect() -> tuple[int, int]:
            shared.expect(8)
            same = shared.max_message_bytes
            shared.expect(1 << 16)
            with shared.bodies._quota.hold("alice", shared.max_message_bytes):
                return same, shared.max_message_bytes

        asked = asyncio.run_coroutine_threadsafe(expect(), server.loop)
        same, after = asked.result(PATIENCE)
    assert same == before
    assert after > (1 << 16) * 512 * 4


def test_what_a_model_kept_on_disk_is_there_when_it_comes_back(
    tiny_path: Path, other_path: Path, tmp_path: Path
) -> None:
    prompt = [{"role": "user", "content": "What is split inference? " * 8}]
    disk = {"kv_disk": tmp_path / "kv", "state": tmp_path / "state"}
    with kept(tiny_path, other_path, **disk) as server, server.client() as client:
        asked = {"messages": prompt, "temperature": 0, "max_tokens": 8}

        def reply(name: str) -> tuple[str, int]:
            answer = client.post("/v1/chat/completions", json=asked | {"model": name})
            document = answer.raise_for_status().json()
            cached = document["usage"]["prompt_tokens_details"]["cached_tokens"]
            return document["choices"][0]["message"]["content"], cached

        first, other = reply("first"), reply("other")
        unload(server, "other")
        client.post("/api/v1/models/other/load").raise_for_status()
        # What lies on disk is learnt beside whatever else is done.
        until(partial(learnt, server))
        again = reply("other")
        assert list((tmp_path / "kv").iterdir())
    assert (first[1], other[1]) == (0, 0)
    assert again[0] == other[0]
    assert again[1] > 0
