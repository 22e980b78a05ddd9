"""Ends of a demo whose server does not go on, with commands that do as they are told."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from scripts.demonstration.run import main
from scripts.demonstration.server import DemoServer, ServerFailed


def _server(tmp_path: Path, script: str) -> DemoServer:
    return DemoServer(["/bin/sh", "-c", script], tmp_path / "demo" / "server.log")


def _commands(tmp_path: Path, **scripts: str) -> Path:
    for name, script in scripts.items():
        file = tmp_path / name.replace("_", "-")
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    return tmp_path


def test_a_server_that_ends_before_it_listens_is_shown_with_its_last_lines(tmp_path: Path) -> None:
    server = _server(
        tmp_path, "for n in $(seq 20); do echo line $n; done; echo no room >&2; exit 3"
    )
    with pytest.raises(ServerFailed) as caught:
        server.url(60.0, lambda _: None)
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("the server ended (exit status 3); the end of ")
    assert lines == [*(f"  line {number}" for number in range(14, 21)), "  no room"]
    assert (tmp_path / "demo/server.log").read_text().startswith("line 1\n")


def test_a_server_without_an_address_is_given_up_and_ended(tmp_path: Path) -> None:
    server = _server(tmp_path, "exec sleep 60")
    waits: list[float] = []
    with pytest.raises(ServerFailed, match=r"no address within 0\.2 s"):
        server.url(0.2, waits.append, every=0.1)
    server.stop()
    assert waits == pytest.approx([0.1, 0.2])


def test_a_server_that_is_stopped_is_not_told(tmp_path: Path) -> None:
    server = _server(tmp_path, "echo listening on http://here; exec sleep 60")
    told = threading.Event()
    assert server.url(60.0, lambda _: None) == "http://here"
    server.watch(lambda _: told.set())
    server.stop()
    assert not told.wait(0.2)


def test_one_that_does_not_heed_the_signal_is_ended_all_the_same(tmp_path: Path) -> None:
    script = "trap '' TERM; echo listening on http://here; while :; do sleep 0.1; done"
    server = _server(tmp_path, script)
    server.url(60.0, lambda _: None)
    server.stop(seconds=0.1)


def test_a_question_whose_server_dies_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    dies = "echo listening on http://here; while ! [ -e asked ]; do sleep 0.05; done; kill -9 $$"
    commands = _commands(
        tmp_path, split_server=dies, split_client='echo "$@" >asked; exec sleep 60'
    )
    assert main(["--once=-q-"], commands) == 1
    said = capfd.readouterr().err
    assert "demo: the server ended (killed by SIGKILL" in said
    assert "/save" not in said
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["generate", "--url", "http://here"]
    assert asked[-2:] == ["--", "-q-"]


def test_the_status_is_the_chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runs = "echo listening on http://here; exec sleep 60"
    commands = _commands(tmp_path, split_server=runs, split_client="exit 7")
    assert main([], commands) == 7


def test_the_terminals_signals_do_not_reach_the_server(tmp_path: Path) -> None:
    script = "import os; print('listening on', os.getpgid(0) == os.getpid(), flush=True); input()"
    server = DemoServer([sys.executable, "-c", script], tmp_path / "server.log")
    assert server.url(60.0, lambda _: None) == "True"
    server.stop()
