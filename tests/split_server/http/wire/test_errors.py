"""A failure as it looks from outside, and what it leaves in the log."""

from __future__ import annotations

import pytest

from tests.server_process import RunningServer

_SECRET = "the text of a prompt"


def _break(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(server.parts.original, "config", fail)


def test_an_unexpected_failure_is_a_reference_and_nothing_more(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _break(open_server, monkeypatch)
    with open_server.client() as client:
        response = client.get("/api/v1/split/config", params={"text": _SECRET})
    assert response.status_code == 500
    error = response.json()["error"]
    assert error["code"] == "internal_error"
    assert "broken on purpose" not in response.text
    reference = error["message"].partition("reference ")[2].partition(")")[0]
    ours = [record for record in caplog.records if record.name.startswith("split_server")]
    assert any(reference in record.getMessage() for record in ours)
    assert not any(_SECRET in record.getMessage() for record in ours)


def test_an_allowed_page_can_read_even_an_unexpected_failure(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(open_server, monkeypatch)
    with open_server.client() as client:
        headers = {"Origin": "https://chat.example.org"}
        response = client.get("/api/v1/split/config", headers=headers)
    assert response.status_code == 500
    assert response.headers["access-control-allow-origin"] == "https://chat.example.org"


def test_the_server_goes_on_after_a_failure(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, open_server.client() as client:
        _break(open_server, patch)
        assert client.get("/api/v1/split/config").status_code == 500
    with open_server.client() as client:
        assert client.get("/api/v1/split/config").status_code == 200
