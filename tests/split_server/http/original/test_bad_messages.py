"""Messages of the original protocol that are refused, and what they leave alone."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.split_server.http.original.setups import Setup
from tests.split_server.http.original.upstream_client import (
    FORWARD,
    BinarySocket,
    Http,
    TextSocket,
    encode,
    pack,
    shape,
)


def bad_messages(hidden: int) -> list[tuple[str | bytes, str]]:
    row = np.ones((1, hidden), np.float32)
    hole = row.copy()
    hole[0, 1] = np.nan

    def text(rows: np.ndarray, **fields: Any) -> str:
        return json.dumps(
            {"type": "forward", "hidden_states": encode(rows), **shape(rows), **fields}
        )

    return [
        ("[]", "malformed_message"),
        ("not json", "malformed_message"),
        ("", "malformed_message"),
        (b"", "malformed_message"),
        (b"\xff\xff\xff\xff{}", "malformed_message"),
        (bytes(range(256)), "malformed_message"),
        ('{"type": "steer"}', "unknown_message"),
        (text(hole), "non_finite"),
        (pack(shape(hole), hole), "non_finite"),
        (text(np.ones((1, hidden + 1), np.float32)), "wrong_hidden_size"),
        (text(row, seq_len=2), "wrong_shape"),
        (pack(shape(row), row)[:-2], "wrong_shape"),
        (text(row, session_id="x" * 200), "malformed_message"),
        (text(np.ones((600, hidden), np.float32)), "context_overflow"),
        (struct.pack("<I", 2) + b"{}", "wrong_shape"),
    ]


def test_bad_messages_get_their_codes_and_disturb_no_other_session(setup: Setup) -> None:
    prompt, wanted = setup.ids(), oracle.greedy(setup.path, setup.ids(), 12)
    with TextSocket(setup.base) as bad, BinarySocket(setup.base) as good, Http(setup.base) as http:
        messages = iter(bad_messages(setup.hidden))

        def forward(rows: np.ndarray, **fields: Any) -> dict[str, Any]:
            for _ in range(2):
                message, code = next(messages, (None, ""))
                if message is not None:
                    assert bad.ask(message)["code"] == code
            return good.forward(rows, **fields)

        assert setup.generate(forward, prompt=prompt) == wanted
        assert next(messages, None) is None
        for message, code in bad_messages(setup.hidden):
            kind = "application/json" if isinstance(message, str) else "application/octet-stream"
            response = http.client.post(FORWARD, content=message, headers={"Content-Type": kind})
            assert response.json()["error"]["code"] == code
            assert 400 <= response.status_code < 500
        assert bad.ask({"type": "ping"}) == {"type": "pong"}


def test_a_context_that_is_full_refuses_and_keeps_the_session(setup: Setup) -> None:
    limit = setup.service.info.max_context
    rows = np.resize(setup.embed(setup.ids()), (limit, setup.hidden))
    with BinarySocket(setup.base) as client:
        client.forward(rows[:-1], session_id="full")
        assert client.forward(rows[:1], session_id="full", incremental=True)["cached_seq_len"] == (
            limit - 1
        )
        reply = client.forward(rows[:1], session_id="full", incremental=True)
        assert reply["code"] == "context_overflow"
        anew = client.forward(rows[:2], session_id="full", incremental=False)
    assert anew["seq_len"] == 2


def test_an_unexpected_failure_tells_a_reference_and_nothing_else(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(setup.service.original, "append", fail)
    row = setup.embed([5])
    with TextSocket(setup.base) as client, Http(setup.base) as http:
        reply = client.forward(row)
        assert (reply["type"], reply["code"]) == ("error", "internal_error")
        assert client.ask({"type": "ping"}) == {"type": "pong"}
        answer = http.forward(row)["error"]
    for message in (reply["message"], answer["message"]):
        assert "the cause" not in message
        assert message.split("reference ")[1][:8] in caplog.text
