from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client import cli
from split_client.api import SplitClient
from tests.server_process import RunningServer, running_server
from tests.split_client.servers import http_server, respond, unused_endpoint


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))


def models(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["models", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_models_lists_the_one_served_and_those_stored(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"--url={server.url}"
    before = models(capsys, url)
    assert before.splitlines()[0] == f"served at {server.url}"
    assert "not stored here yet" in before
    assert "none yet" in before
    with SplitClient(server.url):
        pass
    after = models(capsys, "-u", server.url).splitlines()
    assert after[1].startswith("  gatelink-demo (")
    assert after[1].endswith(", stored here")
    assert after[3].startswith("  gatelink-demo (")
    document = json.loads(models(capsys, url, "--json"))
    assert document["served"]["digest"] == document["stored"][0]["digest"] == server.manifest
    assert (document["error"], document["stored"][0]["complete"]) == (None, True)


def test_a_server_that_is_gone_is_told_and_what_is_stored_is_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with unused_endpoint() as endpoint:
        shown = models(capsys, "--url", endpoint.url)
        document = json.loads(models(capsys, "--url", endpoint.url, "--json"))
    assert "not known: cannot reach" in shown
    assert (document["served"], document["error"]["code"]) == (None, "server_unreachable")


def test_words_of_a_server_do_not_reach_the_terminal_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = json.dumps({"error": {"code": "no", "message": "a\x1b]0;t\x07b"}}).encode()
    with http_server(get=lambda handler: respond(handler, 403, body)) as endpoint:
        shown = models(capsys, "--url", endpoint.url)
    assert "\x1b" not in shown
    assert "not known: " in shown
