"""Servers that answer everything but sessions and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.doctor.finding import Finding
from split_wire.codec import decode_client_message, encode_message
from split_wire.errors import (
    ModelChanged,
    Overloaded,
    ShuttingDown,
    SplitError,
    TooManySessions,
    UnsupportedVersion,
)
from split_wire.messages import Close, Closed, Failure, Open, Opened, Ping, Pong, Result, Step
from split_wire.tensor import Tensor
from tests.patience import until
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import findings, named
from tests.split_client.servers import Answer, Handle, http_server, posting, respond
from tests.split_client.weights.offers import DOCUMENT, FILES, encoded

_LIMIT = 1 << 20


def _answering(
    answer: Answer, files: dict[str, bytes] = FILES, post: Handle | None = None
) -> dict[str, Finding]:
    """A server with the weights of ``offers`` whose frames ``answer`` makes."""

    def get(handler: Any) -> None:
        name = handler.path.rpartition("/")[2]
        known = {"health": b'{"status": "ok"}', "manifest.json": encoded(DOCUMENT), **files}
        respond(handler, 200 if name in known else 404, known.get(name, b""))

    with http_server(get=get, post=post or posting(answer)) as endpoint:
        return findings(endpoint.url)


def _refusing(error: SplitError, *, opens: bool = False) -> Answer:
    """Pings are answered, sessions too if it ``opens`` them, everything else is refused."""

    def answer(frame: bytes) -> bytes:
        message = decode_client_message(frame, _LIMIT)
        if isinstance(message, Ping):
            return encode_message(Pong())
        if opens and isinstance(message, Open):
            return encode_message(Opened("s", message.manifest, "f32", 8, 128))
        return encode_message(Failure.of(error))

    return answer


@pytest.mark.parametrize(
    "error",
    [ShuttingDown(), Overloaded("full"), TooManySessions(4), ModelChanged()],
    ids=lambda error: error.code,
)
def test_a_server_that_opens_no_session_is_named_by_its_code(error: SplitError) -> None:
    assert named(_answering(_refusing(error))) == {"session": error.code}


def test_another_version_of_the_wire_is_named() -> None:
    found = _answering(_refusing(UnsupportedVersion(1, 2)))
    assert named(found) == {"session": "unsupported_version"}
    assert "update" in found["session"].advice


def test_frames_that_cannot_be_read_are_named_with_the_way_out() -> None:
    def garbled(_: bytes) -> bytes:
        frame = bytearray(encode_message(Pong()))
        frame[4] ^= 0xFF
        return bytes(frame)

    found = _answering(garbled)
    assert named(found) == {"http": "malformed_frame"}
    assert "update" in found["http"].advice


def test_a_step_that_is_refused_is_named_by_its_code() -> None:
    found = _answering(_refusing(ShuttingDown(), opens=True))
    assert found["session"].state == "ok"
    assert named(found) == {"step": "shutting_down"}


def test_weights_that_something_changes_on_the_way_are_named() -> None:
    changed = {**FILES, "embedding.bin": bytes(len(FILES["embedding.bin"]))}
    found = _answering(_refusing(ShuttingDown()), changed)
    assert named(found) == {"throughput": "checksum_mismatch"}


def test_a_real_step_is_timed_and_leaves_no_session(server: RunningServer, token: str) -> None:
    store = server.parts.steps.store
    before = len(store)
    found = findings(server.url, token=token)["step"]
    assert 0 < float(found.facts["compute_s"]) <= float(found.facts["next_s"])
    # The doctor sends its goodbye and does not wait.
    until(lambda: len(store) == before)


def test_throughput_is_measured(server: RunningServer, token: str, tmp_path: Path) -> None:
    facts = findings(server.url, token=token)["throughput"].facts
    assert int(facts["bytes"]) > 0
    assert float(facts["bytes_per_s"]) > 0


def _replicas(*names: str | None) -> Answer:
    """Sessions are opened by these in turn; steps are answered."""
    turns = iter(names)

    def answer(frame: bytes) -> bytes:
        match decode_client_message(frame, _LIMIT):
            case Open(manifest=manifest):
                opened = Opened("s", str(manifest), "f32", 8, 128, replica=next(turns))
                return encode_message(opened)
            case Step() as step:
                hidden = Tensor.from_f32(np.zeros((1, step.embeddings.shape[1]), np.float32), "f32")
                return encode_message(Result("s", step.step, step.end, hidden))
            case Close():
                return encode_message(Closed("s"))
            case _:
                return encode_message(Pong())

    return answer


def test_a_replica_that_answers_twice_is_named() -> None:
    found = _answering(_replicas("attic-1", "attic-1"))["replica"]
    assert (found.state, found.message) == ("ok", "attic-1 answers twice")


def test_a_balancer_that_does_not_look_at_the_routing_id_is_warned_of() -> None:
    found = _answering(_replicas("attic-1", "attic-2"))
    assert named(found, "warning") | named(found) == {
        "websocket": "websocket_blocked",
        "replica": "replica_changes",
    }
    assert "query parameter s" in found["replica"].advice


def test_a_server_that_is_one_of_none_is_asked_for_one_session() -> None:
    found = _answering(_replicas(None))["replica"]
    assert (found.state, found.cause) == ("ok", "")


def test_what_refuses_routing_ids_is_named() -> None:
    def post(handler: Any) -> None:
        if "?s=" in handler.path:
            respond(handler, 403, b"no queries here", "text/plain")
        else:
            posting(_refusing(ShuttingDown()))(handler)

    found = _answering(_refusing(ShuttingDown()), post=post)
    assert named(found) == {"routing": "routing_blocked"}
    assert "?s=" in found["routing"].advice
