"""``split-server status`` finds what ``serve`` and ``adapters`` run, and nobody else does."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from split_client.api import SplitClient
from split_server.cli import main

_COMMAND = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def started(stack: ExitStack, *arguments: str) -> str:
    """The URL of a server that listens until ``stack`` ends."""
    process = stack.enter_context(
        subprocess.Popen([*_COMMAND, *arguments, "--port=0"], stdout=subprocess.PIPE, text=True)
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("listening on "):
            return line.split()[-1]
    raise AssertionError("it never listened")


def served(servers: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = (server for server in servers if server["kind"] == kind)
    return found


def test_status_lists_running_servers_and_their_sessions(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def status(*arguments: str) -> tuple[int, str]:
        code = main(["status", *arguments])
        return code, capsys.readouterr().out

    assert status() == (1, "no server of this user runs; split-server serve starts one\n")
    with ExitStack() as stack:
        host = started(stack, "adapters", "--workers=1")
        url = started(stack, "serve", f"--model={tiny_path}", "--no-compat")
        client = stack.enter_context(SplitClient(url))
        client.generate("hello", temperature=0, max_tokens=1).read()
        code, text = status("--json")
        servers = json.loads(text)["servers"]
        assert (code, len(servers)) == (0, 2)
        assert served(servers, "adapter host")["urls"] == [host]
        server = served(servers, "server")
        assert (server["urls"], server["most_sessions"]) == ([url], 64)
        assert server["memory"]["held"]["private"] > 0
        assert "sessions" in status()[1]
    assert status() == (1, "no server of this user runs; split-server serve starts one\n")
