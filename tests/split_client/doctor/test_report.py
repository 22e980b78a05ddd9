"""The command: its lines, its document, its exit status, at any width."""

from __future__ import annotations

import json
from typing import Any

import pytest

from split_client import cli
from split_client.config.connection import ConnectionConfig
from split_client.doctor.report import run_doctor
from tests.server_process import RunningServer
from tests.split_client.servers import http_server, respond, unused_endpoint
from tests.split_client.terminal.consoles import RecordingScreen


def _run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = cli.main(["doctor", *arguments])
    return status, capsys.readouterr().out


def test_all_is_well_and_the_exit_status_is_0(
    server: RunningServer, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = _run("--url", server.url, "--token", token, capsys=capsys)
    assert status == 0
    assert out.endswith("\nall is well\n")
    assert all(line.startswith("ok       ") for line in out.splitlines()[:-2])
    assert token not in out


def test_a_problem_is_one_line_with_what_to_do_and_the_exit_status_is_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with unused_endpoint() as endpoint:
        status, out = _run("--url", endpoint.url, capsys=capsys)
    assert status == 1
    line = next(line for line in out.splitlines() if line.startswith("problem"))
    assert line.startswith("problem  tcp: nothing listens")
    assert "; start split-server there" in line
    assert line.endswith("[nothing_listens]")
    assert "1 problem: tcp; not checked: tls, server," in out.splitlines()[-1]


def test_a_program_gets_one_document(
    server: RunningServer, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = _run("--url", server.url, "--token", token, "--json", capsys=capsys)
    document = json.loads(out)
    assert (status, document["ok"], document["problems"]) == (0, True, [])
    assert [check["check"] for check in document["checks"]][:3] == ["url", "dns", "tcp"]
    assert document["not_checked"] == []


def test_a_document_names_problems_by_their_causes(capsys: pytest.CaptureFixture[str]) -> None:
    with unused_endpoint() as endpoint:
        status, out = _run("--url", endpoint.url, "--json", capsys=capsys)
    document = json.loads(out)
    assert (status, document["ok"], document["problems"]) == (1, False, ["nothing_listens"])
    assert "step" in document["not_checked"]


def test_lines_fit_a_narrow_terminal(server: RunningServer, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen = RecordingScreen(interactive=True)
    assert not run_doctor(ConnectionConfig(url=server.url), screen, as_json=False)
    lines = screen.shown.splitlines()
    assert max(len(line) for line in lines if "/" not in line) < 40
    assert any(line.startswith("problem  token:") for line in lines)
    assert "\x1b" not in screen.shown


def test_what_a_server_says_cannot_move_the_cursor() -> None:
    def hostile(handler: Any) -> None:
        body = json.dumps({"error": {"code": "a\x1b[2Jb", "message": "x\x1b]0;t\x07y\nz"}})
        respond(handler, 403, body.encode())

    screen = RecordingScreen()
    with http_server(get=hostile) as endpoint:
        assert not run_doctor(ConnectionConfig(url=endpoint.url), screen, as_json=False)
    assert "\x1b" not in screen.shown
    assert "problem  server: xy z" in screen.shown


@pytest.mark.parametrize("as_json", [False, True])
def test_a_url_that_cannot_be_read_is_a_finding_too(as_json: bool) -> None:
    screen = RecordingScreen()
    assert not run_doctor(ConnectionConfig(url="ftp://x"), screen, as_json=as_json)
    assert "url_invalid" in screen.shown
