"""Servers that answer everything but sessions and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from split_wire.messages import Failure, Open, Opened, Ping, Pong
from tests.patience import until
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import findings, named
from tests.split_client.servers import Answer, http_server, posting, respond
from tests.split_client.weights.offers import DOCUMENT, FILES, encoded

_LIMIT = 1 << 20


def _answering(answer: Answer, files: dict[str, bytes] = FILES) -> dict[str, Finding]:
    """A server with the weights of ``offers`` whose frames ``answer`` makes."""

    def get(handler: Any) -> None:
        name = handler.path.rpartition("/")[2]
        known = {"health": b'{"status": "ok"}', "manifest.json": encoded(DOCUMENT), **files}
        respond(handler, 200 if name in known else 404, known.get(name, b""))

    with http_server(get=get, post=posting(answer)) as endpoint:
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
