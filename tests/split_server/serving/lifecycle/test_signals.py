"""A server's life as balancers and supervisors see it: a real process, real signals."""

from __future__ import annotations

import hashlib
import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from websockets.sync.client import connect

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted, StepFailed
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Open, Opened
from tests.patience import PATIENCE, until
from tests.server_process import STREAM_PATH
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


def _opened_over_websocket(port: int) -> object:
    with connect(
        f"ws://127.0.0.1:{port}{STREAM_PATH}",
        subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
        compression=None,
        open_timeout=PATIENCE,
        proxy=None,
    ) as websocket:
        websocket.send(encode_message(Open()))
        reply = websocket.recv(timeout=PATIENCE)
        assert isinstance(reply, bytes)
        return decode_server_message(reply, 1 << 20)


def test_ready_tells_loading_from_serving_and_serving_from_leaving(tiny_path: Path) -> None:
    port = free_port()
    flags = ("--model", str(tiny_path), "--port", str(port), "--no-compat", "--drain-delay", "300")
    with starting(*flags) as process:
        until(lambda: status(port, "/health") == 200)
        assert status(port) == 503
        # They come before there is a model, and are answered by it.
        with ThreadPoolExecutor(2) as pool:
            early, socket = pool.submit(_Device, port), pool.submit(_opened_over_websocket, port)
            until(lambda: status(port) == 200)
            device = early.result(PATIENCE)
            assert isinstance(socket.result(PATIENCE), Opened)
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
def test_a_signal_ends_it_while_it_loads_and_nothing_names_it_then(
    tiny_path: Path, tmp_path: Path, number: int, code: int
) -> None:
    flags = ("--model", str(tiny_path), "--port", "0", "--no-compat")
    ops = ("--ops-listen", "127.0.0.1:0", "--ops-targets", str(tmp_path))
    with starting(*flags, *ops) as process:
        until(lambda: list(tmp_path.glob("*.json")))
        (file,) = tmp_path.iterdir()
        ((target,),) = (each["targets"] for each in json.loads(file.read_text()))
        until(lambda: status(int(target.rpartition(":")[2]), "/health") == 200)
        assert "split_ready 0.0" in httpx.get(f"http://{target}/metrics", trust_env=False).text
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "listening on" not in output
    assert "Traceback" not in output + errors
    assert list(tmp_path.iterdir()) == []


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
