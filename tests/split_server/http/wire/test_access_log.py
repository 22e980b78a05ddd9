"""The line of a request, in its fields, over a real socket."""

from __future__ import annotations

import json
import logging

import pytest

from split_server.serving.logs import JsonFormatter
from tests.server_process import RunningServer

_LOGGER = "split_server.http.wire.access_log"


def _lines(caplog: pytest.LogCaptureFixture, path: str) -> list[dict[str, object]]:
    """Lines about ``path``: a socket of an earlier test may end at any time."""
    formatter = JsonFormatter()
    records = [record for record in caplog.records if record.name == _LOGGER]
    lines = [json.loads(formatter.format(record)) for record in records]
    return [line for line in lines if line["request"]["path"] == path]


def test_a_refusal_has_its_fields_and_its_code(
    open_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, _LOGGER), open_server.client() as client:
        client.get("/nothing?query=secret", headers={"X-Secret": "secret"})
        client.get("/health")
    assert _lines(caplog, "/health") == []
    (line,) = _lines(caplog, "/nothing")
    request = line["request"]
    assert isinstance(request, dict)
    assert request.pop("milliseconds") >= 0
    assert request == {"method": "GET", "path": "/nothing", "status": 404, "code": "not_found"}
    assert line["level"] == "info"
    assert "secret" not in json.dumps(line)


def test_a_request_that_went_well_is_told_for_debugging_without_a_code(
    open_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, _LOGGER), open_server.client() as client:
        client.get("/health")
        # A line is written after its answer has left, and before the next request is answered.
        client.get("/nothing")
    (line,) = _lines(caplog, "/health")
    request = line["request"]
    assert isinstance(request, dict)
    assert set(request) == {"method", "path", "status", "milliseconds"}
    assert line["level"] == "debug"
    assert str(line["message"]).startswith("GET /health 200 in ")


def test_a_prompt_stays_out_of_the_log(
    open_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"model": "tiny", "prompt": "my-private-prompt", "max_tokens": "wrong"}
    with caplog.at_level(logging.DEBUG), open_server.client() as client:
        assert client.post("/v1/completions", json=body).status_code == 400
        client.get("/nothing")
    lines = _lines(caplog, "/v1/completions")
    assert lines
    assert "my-private-prompt" not in json.dumps(lines)
    assert "my-private-prompt" not in caplog.text
