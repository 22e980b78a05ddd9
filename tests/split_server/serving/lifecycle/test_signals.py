"""A server's life as balancers and supervisors see it: a real process, real signals."""

from __future__ import annotations

import hashlib
import signal
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted, StepFailed
from split_wire.messages import CONTENT_TYPE
from tests.patience import PATIENCE, until
from tests.split_server.serving.lifecycle.starting import free_port, starting, status


class _Device:
    """Steps over POST."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        manifest = self._get("/weights/manifest.json")
        self.width = manifest.json()["hidden_size"]
        digest = hashlib.sha256(manifest.content).hexdigest()
        self.protocol = ClientProtocol(self.width, digest)

    def _get(self, path: str) -> httpx.Response:
        return httpx.get(self._url + path, trust_env=False, timeout=PATIENCE)

    def open(self) -> object:
        return self._said(self.protocol.open())

    def step(self) -> object:
        rows = np.ones((1, self.width), np.float32)
        return self._said(self.protocol.step(self.protocol.cached, rows))

    def _said(self, frame: bytes) -> object:
        answer = httpx.post(
            f"{self._url}/api/v1/split/forward",
            content=frame,
            headers={"Content-Type": CONTENT_TYPE},
            trust_env=False,
            timeout=PATIENCE,
        )
        return self.protocol.receive(answer.content)


def test_ready_tells_loading_from_serving_and_serving_from_leaving(tiny_path: Path) -> None:
    port = free_port()
    flags = ("--model", str(tiny_path), "--port", str(port), "--no-compat", "--drain-delay", "300")
    with starting(*flags) as process:
        until(lambda: status(port, "/health") == 200)
        assert status(port) == 503
        # It comes before there is a model, and is answered by it.
        early: list[_Device] = []
        waiting = threading.Thread(target=lambda: early.append(_Device(port)))
        waiting.start()
        until(lambda: status(port) == 200)
        waiting.join(PATIENCE)
        (device,) = early
        assert isinstance(device.open(), SessionOpened)
        process.send_signal(signal.SIGTERM)
        until(lambda: status(port) == 503)
        assert status(port, "/health") == 200
        refused = _Device(port).open()
        assert isinstance(refused, StepFailed)
        assert (refused.failure.code, refused.failure.retryable) == ("shutting_down", True)
        assert isinstance(device.step(), StepCompleted)
        # A second one ends the delay.
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in output + errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_it_loads(tiny_path: Path, number: int, code: int) -> None:
    port = free_port()
    with starting("--model", str(tiny_path), "--port", str(port), "--no-compat") as process:
        until(lambda: status(port) == 503)
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "listening on" not in output
    assert "Traceback" not in output + errors


def test_ctrl_c_waits_for_no_balancer(tiny_path: Path) -> None:
    port = free_port()
    flags = ("--model", str(tiny_path), "--port", str(port), "--no-compat", "--drain-delay", "3600")
    with starting(*flags) as process:
        until(lambda: status(port) == 200)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_what_cannot_be_loaded_ends_the_process_with_its_error(tmp_path: Path) -> None:
    with starting("--model", str(tmp_path), "--port", "0") as process:
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "config.json" in errors
    assert "Traceback" not in errors
