"""Before the stop: new sessions are refused in every protocol, and those that there are go on."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
from websockets.sync.client import ClientConnection

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted, StepFailed
from split_wire.codec import encode_message
from split_wire.messages import Open
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.original.upstream_client import encode, shape


def _device(server: RunningServer) -> ClientProtocol:
    return ClientProtocol(server.parts.steps.info.hidden_size, server.manifest)


def _said(websocket: ClientConnection, device: ClientProtocol) -> object:
    return device.receive(websocket.recv(timeout=PATIENCE, decode=False))


def _leave(server: RunningServer) -> None:
    done = threading.Event()

    def leave() -> None:
        server.app.leave()
        done.set()

    server.loop.call_soon_threadsafe(leave)
    assert done.wait(PATIENCE)


def test_frames_a_session_goes_on_over_its_socket_and_a_new_one_is_refused(
    tiny_path: Path,
) -> None:
    with running_server(tiny_path, compat=False) as server, server.socket() as websocket:
        device = _device(server)
        rows = np.ones((1, server.parts.steps.info.hidden_size), np.float32)
        websocket.send(device.open())
        assert isinstance(
            device.receive(websocket.recv(timeout=PATIENCE, decode=False)), SessionOpened
        )
        _leave(server)
        for _ in range(3):
            websocket.send(device.step(device.cached, rows))
            assert isinstance(
                device.receive(websocket.recv(timeout=PATIENCE, decode=False)), StepCompleted
            )
        newcomer = _device(server)
        with server.socket() as late:
            late.send(newcomer.open())
            refused = newcomer.receive(late.recv(timeout=PATIENCE, decode=False))
        assert isinstance(refused, StepFailed)
        assert (refused.failure.code, refused.failure.retryable) == ("shutting_down", True)


def test_whoever_waits_for_a_place_is_told_at_once(tiny_path: Path) -> None:
    with running_server(tiny_path, compat=False, max_sessions=1) as server:
        assert server.post(encode_message(Open())).status_code == 200
        answers: list[bytes] = []
        newcomer = _device(server)
        waiting = threading.Thread(
            target=lambda: answers.append(server.post(newcomer.open()).content)
        )
        waiting.start()
        until(lambda: len(server.parts.steps.opening._newcomers))
        _leave(server)
        waiting.join(PATIENCE)
        refused = newcomer.receive(answers[0])
    assert isinstance(refused, StepFailed)
    assert refused.failure.code == "shutting_down"


def test_a_text_api_goes_on_with_a_chat_and_begins_none(tiny_path: Path) -> None:
    begun = {"model": "tiny", "prompt": [3, 4, 5] * 20, "max_tokens": 2, "temperature": 0}
    other = begun | {"prompt": [9, 8, 7] * 20}
    with running_server(tiny_path) as server, server.client() as client:
        assert client.post("/v1/completions", json=begun).status_code == 200
        _leave(server)
        assert client.post("/v1/completions", json=begun).status_code == 200
        refused = client.post("/v1/completions", json=other)
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "shutting_down"


def test_a_name_of_the_original_protocol_goes_on_and_a_new_one_is_refused(
    tiny_path: Path,
) -> None:
    with (
        running_server(tiny_path, compat=False) as server,
        server.socket(subprotocol=None) as websocket,
    ):
        width = server.parts.steps.info.hidden_size
        row = np.ones((1, width), np.float32)
        rows = {"hidden_states": encode(row), **shape(row)}

        def said(name: str) -> str:
            message = {"type": "forward", "session_id": name, "incremental": True}
            websocket.send(json.dumps(message | rows))
            return str(json.loads(websocket.recv(timeout=PATIENCE)).get("code"))

        assert said("first") == "None"
        _leave(server)
        assert said("first") == "None"
        assert said("second") == "shutting_down"
