"""Adapters that a server left out, as the doctor tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from split_client.doctor import adapters
from split_client.doctor.case import Case
from split_client.doctor.http import Answer
from tests.adapted import write_adapter
from tests.server_process import running_server
from tests.split_client.doctor.examined import findings


def test_a_folder_that_holds_no_adapter_is_shown_and_the_server_runs(
    tiny_path: Path, tmp_path: Path
) -> None:
    write_adapter(tmp_path / "good", 64)
    (tmp_path / "bad").mkdir()
    with running_server(tiny_path, adapters=tmp_path, compat=False) as server:
        found = findings(server.url)["adapters"]
        assert list(server.parts.adapters) == ["good"]
    assert (found.state, found.cause) == ("warning", "adapter_unusable")
    assert "bad: adapter.json is missing" in found.message
    assert found.facts == {"count": 1, "left_out": 1}


def _asked(monkeypatch: pytest.MonkeyPatch, status: int, document: Any) -> Any:
    answer = Answer(status, httpx.Headers(), json.dumps(document).encode(), 0.0, 0.0)
    monkeypatch.setattr(adapters, "ask", lambda *_, **__: answer)
    return adapters.check_adapters(Case("http://127.0.0.1:1"))


def test_a_server_that_knows_of_no_adapters_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _asked(monkeypatch, 404, {}).state == "ok"


@pytest.mark.parametrize(
    "document",
    [[], {"adapters": 1}, {"adapters": [], "left_out": 5}, {"adapters": [], "left_out": [1]}],
)
def test_a_list_that_is_none_is_a_warning(
    document: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _asked(monkeypatch, 200, document).cause == "adapters_unknown"


def test_what_the_server_says_reaches_no_terminal_as_control_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = {"folder": "\x1b[31mx", "reason": "r" * 5000}
    found = _asked(monkeypatch, 200, {"adapters": [], "left_out": [entry]})
    assert found.message.isprintable()
    assert len(found.message) < 300
