"""A model loaded and let go beside another, in a process of its own, with what the process held.

``python -m tests.split_server.serving.models.loading_process FIRST OTHER COUNT``: one line of JSON
per round, once the model has gone again.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import httpx

from split_server.memory.usage import process_usage
from tests.patience import until
from tests.server_process import RunningServer, running_server

_HELLO = [{"role": "user", "content": "Hello"}]


def main() -> None:
    """Have the other model answer and be let go, ``COUNT`` times."""
    first, other, count = sys.argv[1:]
    models = (f"first={first}", f"other={other}")
    with running_server(models, threads=1) as server, server.client() as client:
        for _ in range(int(count)):
            _round(server, client)
            print(json.dumps(_held()), flush=True)


def _round(server: RunningServer, client: httpx.Client) -> None:
    # Two a minute are what strangers get.
    server.app.rooms._allowance._begun.clear()  # type: ignore[attr-defined]
    until(lambda: _answered(client))
    client.post("/api/v1/models/other/unload").raise_for_status()


def _answered(client: httpx.Client) -> bool:
    """Whether the model answered; False while it is being loaded."""
    asked = {"model": "other", "max_tokens": 4, "temperature": 0, "messages": _HELLO}
    answer = client.post("/v1/chat/completions", json=asked)
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        assert answer.json()["error"]["code"] == "model_loading"
        return False
    return answer.raise_for_status().is_success


def _held() -> dict[str, int]:
    """Bytes, threads, open files and child processes."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return {
        "private": process_usage().private,
        "threads": threading.active_count(),
        "files": len([*Path("/proc/self/fd").iterdir()]),
        "children": len(children.read_text().split()),
    }


if __name__ == "__main__":
    main()
