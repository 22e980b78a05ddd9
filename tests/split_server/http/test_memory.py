"""``/api/v1/memory`` over a real socket."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from split_wire.client import ClientProtocol
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import TOKEN

_PATH = "/api/v1/memory"


def test_it_tells_what_binds_what_is_held_and_what_fits(open_server: RunningServer) -> None:
    with open_server.client() as client:
        answer = client.get(_PATH)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    report = answer.json()
    assert report["limit"]["free"] > 0
    assert report["limit"]["source"] in ("machine", "cgroup", "RLIMIT_DATA", "RLIMIT_AS", "GPU")
    assert 0 <= report["caches"]["reserved"] <= report["caches"]["budget"]
    assert report["held"]["private"] > report["held"]["caches"]
    assert report["largest_prompt"] == open_server.parts.steps.info.max_context
    assert report["failed"] == 0


def _step_of(server: RunningServer, count: int) -> None:
    """One step of ``count`` rows in a new session."""
    width = server.parts.steps.info.hidden_size
    device = ClientProtocol(width, server.manifest)
    device.receive(server.post(device.open()).content)
    device.receive(server.post(device.step(0, np.ones((count, width), np.float32))).content)
    assert device.cached == count


def test_passes_of_many_rows_are_compared_with_their_prediction(
    tiny_path: Path,
) -> None:
    # A server of its own: where other sessions have left buffers to recycle, nothing is measured.
    with running_server(tiny_path) as server:
        _step_of(server, 200)
        with server.client() as client:
            report = client.get(_PATH).json()
    assert report["predictions"]["passes"] >= 1
    assert 0 < report["predictions"]["p50"] <= report["predictions"]["max"]
    assert 1 <= report["predictions"]["correction"] <= 3
    assert report["held"]["caches"] > 0


def test_it_names_no_principal_and_no_session(open_server: RunningServer) -> None:
    device = ClientProtocol(open_server.parts.steps.info.hidden_size, open_server.manifest)
    device.receive(open_server.post(device.open()).content)
    assert device.opened is not None
    with open_server.client() as client:
        text = json.dumps(client.get(_PATH).json())
    assert device.opened.session not in text
    assert "local" not in text


def test_it_is_behind_the_same_guards_as_everything_else(guarded_server: RunningServer) -> None:
    with guarded_server.client() as client:
        assert client.get(_PATH).status_code == 401
        assert client.get(_PATH, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get(_PATH, headers={"Host": "evil.example.org"}).status_code == 403
