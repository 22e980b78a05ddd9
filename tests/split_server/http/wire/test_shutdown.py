"""Stopping in order: steps under way are answered, new ones refused, sockets closed."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from split_wire.client import StepCompleted, StepFailed
from split_wire.codec import encode_message
from split_wire.messages import Open
from tests.checkpoints import tiny_checkpoint
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.gated import device, gated_server, rows


def _stop_in_background(server: RunningServer) -> threading.Thread:
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    until(lambda: server.parts.steps._stopping)
    return stopping


def test_a_step_under_way_is_answered_and_the_socket_then_closed(tiny_path: Path) -> None:
    with gated_server(tiny_path) as (server, runner), server.socket() as websocket:
        protocol = device(server)
        websocket.send(protocol.open())
        protocol.receive(websocket.recv())
        websocket.send(protocol.step(0, rows(server, 2)))
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        runner.gate.set()
        assert isinstance(protocol.receive(websocket.recv(timeout=PATIENCE)), StepCompleted)
        with pytest.raises(ConnectionClosed) as caught:
            websocket.recv(timeout=PATIENCE)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1012
        stopping.join(PATIENCE)


def test_a_post_under_way_is_answered(tiny_path: Path) -> None:
    with gated_server(tiny_path) as (server, runner):
        protocol = device(server)
        protocol.receive(server.post(protocol.open()).content)
        replies: list[bytes] = []
        frame = protocol.step(0, rows(server))
        asking = threading.Thread(target=lambda: replies.append(server.post(frame).content))
        asking.start()
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        runner.gate.set()
        asking.join(PATIENCE)
        assert isinstance(protocol.receive(replies[0]), StepCompleted)
        stopping.join(PATIENCE)


def test_new_messages_are_refused_while_the_server_stops(tiny_path: Path) -> None:
    with (
        gated_server(tiny_path) as (server, runner),
        server.socket() as busy,
        server.socket() as late,
    ):
        protocol = device(server)
        busy.send(protocol.open())
        protocol.receive(busy.recv())
        busy.send(protocol.step(0, rows(server)))
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        newcomer = device(server)
        late.send(newcomer.open())
        event = newcomer.receive(late.recv(timeout=PATIENCE))
        assert isinstance(event, StepFailed)
        assert event.failure.code == "shutting_down"
        assert event.failure.retryable
        runner.gate.set()
        stopping.join(PATIENCE)


def test_an_idle_socket_is_closed_with_service_restart(tiny_path: Path) -> None:
    with (
        running_server(tiny_path) as server,
        server.socket() as websocket,
        server.socket(subprotocol=None) as original,
    ):
        server.stop()
        for idle in (websocket, original):
            with pytest.raises(ConnectionClosed) as caught:
                idle.recv(timeout=PATIENCE)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1012


def test_a_step_slower_than_the_grace_period_is_given_up(
    tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        gated_server(tiny_path, shutdown_grace=0.1) as (server, runner),
        server.socket() as websocket,
    ):
        protocol = device(server)
        websocket.send(protocol.open())
        protocol.receive(websocket.recv())
        websocket.send(protocol.step(0, rows(server)))
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        event = protocol.receive(websocket.recv(timeout=PATIENCE))
        assert isinstance(event, StepFailed)
        assert (event.failure.code, event.failure.retryable) == ("shutting_down", True)
        with pytest.raises(ConnectionClosed) as caught:
            websocket.recv(timeout=PATIENCE)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1012
        runner.gate.set()
        stopping.join(PATIENCE)
    assert "still under way" in caplog.text


@pytest.mark.parametrize("count", [1, 400], ids=["admitted at once", "admitted on a thread"])
def test_a_post_slower_than_the_grace_period_is_told_that_the_server_stops(
    count: int, tmp_path: Path
) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "wide", hidden_size=256)
    with gated_server(path, shutdown_grace=0.1) as (server, runner):
        protocol = device(server)
        protocol.receive(server.post(protocol.open()).content)
        replies: list[httpx.Response] = []
        frame = protocol.step(0, rows(server, count))
        asking = threading.Thread(target=lambda: replies.append(server.post(frame)))
        asking.start()
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        asking.join(PATIENCE)
        assert replies[0].status_code == 503
        event = protocol.receive(replies[0].content)
        assert isinstance(event, StepFailed)
        assert event.failure.code == "shutting_down"
        runner.gate.set()
        stopping.join(PATIENCE)


def test_a_client_of_the_original_protocol_is_told_that_the_server_stops(tiny_path: Path) -> None:
    with (
        gated_server(tiny_path, shutdown_grace=0.1) as (server, runner),
        server.socket(subprotocol=None) as websocket,
    ):
        encoded = base64.b64encode(rows(server).tobytes()).decode()
        websocket.send(json.dumps({"type": "forward", "hidden_states": encoded}))
        assert runner.entered.wait(PATIENCE)
        stopping = _stop_in_background(server)
        answer = json.loads(websocket.recv(timeout=PATIENCE))
        assert (answer["type"], answer["code"]) == ("error", "shutting_down")
        runner.gate.set()
        stopping.join(PATIENCE)


def test_the_port_is_free_after_the_stop(tiny_path: Path) -> None:
    with running_server(tiny_path) as server:
        port = server.port
        assert server.post(encode_message(Open())).status_code == 200
    with running_server(tiny_path, port=port) as again:
        assert again.port == port
