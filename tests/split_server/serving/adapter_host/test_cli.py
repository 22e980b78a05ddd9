"""``split-server adapters``: what stops it from starting, in words and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from split_server.cli import main
from split_server.http.wire.server import listen
from split_server.serving.adapter_host.cli import described


def _refusal(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    assert main(["adapters", "--port", "0", *flags]) == 1
    return capsys.readouterr().err


def test_a_folder_that_is_missing_or_empty_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = _refusal(capsys, "--adapters", str(tmp_path / "nowhere"))
    assert "[adapters_not_found]" in missing
    empty = _refusal(capsys, "--adapters", str(tmp_path))
    assert "[adapter_host_unusable]" in empty
    assert "Traceback" not in missing + empty


def test_a_damaged_count_of_queries_stops_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queries.json").write_text(json.dumps({"version": 9}))
    refusal = _refusal(capsys, "--state", str(tmp_path), "--query-budget", "10")
    assert "[adapter_host_state_unusable]" in refusal


def test_a_port_in_use_is_told_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    (taken,) = listen("127.0.0.1", 0)
    with taken:
        port = str(taken.getsockname()[1])
        assert main(["adapters", "--port", port]) == 1
    assert "[cannot_listen]" in capsys.readouterr().err


def test_contradicting_access_is_refused_without_showing_the_token(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refusal = _refusal(capsys, "--token", "a-token-of-enough-length", "--no-auth")
    assert "[conflicting_access]" in refusal
    assert "a-token-of-enough-length" not in refusal


def test_each_adapter_has_a_line() -> None:
    entry = {"name": "banking", "rank": 16, "hidden_size": 192}
    (line,) = described({"adapters": [entry]})
    assert line == "adapter banking (rank 16, hidden size 192), computed on ciphertexts"
