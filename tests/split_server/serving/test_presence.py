from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from split_server.serving.presence import About, Presence, presence_folder, running_servers
from split_server.serving.status import document, lines
from tests.pipes import pipe

REPORT = {
    "held": {"private": 2_500_000_000, "caches": 12_000_000},
    "caches": {"budget": 4_000_000_000, "reserved": 16_000_000},
    "limit": {"source": "machine", "free": 7_000_000_000},
}


class Server:
    """What a server tells, and the time that it thinks it is."""

    def __init__(self, folder: Path, kind: str = "server") -> None:
        self.now, self.count = 1000.0, 1
        self.presence = Presence(folder, lambda: self.now)
        self.about = About(
            kind, ["http://127.0.0.1:8095"], "demo", 64, lambda: self.count, lambda: REPORT
        )


def test_a_server_is_found_while_it_runs(tmp_path: Path) -> None:
    folder = tmp_path / "running"
    server = Server(folder)
    assert running_servers(folder) == []
    server.presence.begin(server.about)
    (found,) = running_servers(folder)
    assert (found["pid"], found["sessions"], found["started"]) == (os.getpid(), 1, 1000)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    server.presence.end()
    server.presence.end()
    assert running_servers(folder) == list(folder.iterdir()) == []


def test_what_it_tells_is_told_again(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.presence.begin(server.about)
    server.now, server.count = 1007.5, 3

    async def once() -> None:
        task = asyncio.create_task(server.presence.upkeep()())
        # It tells at once, and then waits.
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(asyncio.wait_for(once(), 20))
    assert [(s["updated"], s["sessions"]) for s in running_servers(tmp_path)] == [(1007, 3)]
    server.presence.end()


def test_what_a_killed_server_left_is_removed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from split_server.serving.presence import About, Presence\n"
        "p = Presence(Path(sys.argv[1])); p.begin(About('server', [], 'x', 1, lambda: 0))\n"
        "print('there', flush=True); time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "there\n"
        assert [server["pid"] for server in running_servers(tmp_path)] == [process.pid]
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    assert running_servers(tmp_path) == list(tmp_path.iterdir()) == []


def test_foreign_and_damaged_files_are_passed_over(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.presence.begin(server.about)
    (own,) = tmp_path.glob("*.json")
    whole = json.loads(own.read_text())
    for damaged in ("", "[]", json.dumps(whole | {"pid": "1"}), json.dumps(whole | {"version": 2})):
        own.write_text(damaged)
        assert running_servers(tmp_path) == []
    own.unlink()
    with pipe(own, b"{}"):
        assert running_servers(tmp_path) == []
    (tmp_path / "link.lock").symlink_to("/nowhere")
    assert running_servers(tmp_path) == []
    server.presence.end()


def test_a_folder_that_cannot_be_written_is_logged_and_the_server_serves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    server = Server(tmp_path / "file" / "running")
    with caplog.at_level(logging.WARNING):
        server.presence.begin(server.about)
    assert "split-server status will not find this server" in caplog.text
    server.presence.end()


def test_status_in_words(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.presence.begin(server.about)
    found = running_servers(tmp_path)
    server.presence.end()
    assert list(lines(found, 1000 + 7500)) == [
        "http://127.0.0.1:8095",
        f"  server, pid {os.getpid()}, up 2 h 5 min",
        "  demo",
        "  1 of 64 sessions",
        "  memory 2.5 GB, of it caches 12.0 MB; set aside 16.0 MB of 4.0 GB",
        "  free 7.0 GB (machine)",
        "  silent for 2 h 5 min: it is stopped, or cannot go on; see its log",
    ]
    assert "silent" not in "".join(lines(found, 1010))
    assert json.loads(document(found))["servers"] == found
    (nobody,) = lines([], 0)
    assert nobody.startswith("no server of this user runs")


def test_status_tells_the_state_of_each_of_several_models(tmp_path: Path) -> None:
    server = Server(tmp_path)
    states = {"small": "loaded", "other": "unloaded"}
    server.presence.begin(replace(server.about, models=lambda: states))
    found = running_servers(tmp_path)
    server.presence.end()
    assert "  models: small loaded, other unloaded" in list(lines(found, 1001))
    assert json.loads(document(found))["servers"][0]["models"] == states


def test_the_folder_is_where_this_users_data_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_DATA", "/somewhere")
    assert presence_folder() == Path("/somewhere/running")
