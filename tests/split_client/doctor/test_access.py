"""Tokens that are missing, wrong or not needed, and manifests of another kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from split_client.doctor.finding import Finding
from tests.server_process import RunningServer, running_server
from tests.split_client.doctor.examined import findings, named
from tests.split_client.servers import http_server, respond
from tests.split_client.weights.offers import document, encoded


def _serving(manifest: bytes) -> dict[str, Finding]:
    def get(handler: Any) -> None:
        health = handler.path == "/health"
        respond(handler, 200, b'{"status": "ok"}' if health else manifest)

    with http_server(get=get) as endpoint:
        return findings(endpoint.url)


def test_a_missing_token_is_named(server: RunningServer) -> None:
    found = findings(server.url)
    assert named(found) == {"token": "token_missing"}
    assert "SPLIT_CLIENT_TOKEN" in found["token"].advice


def test_a_wrong_token_is_named_and_not_shown(server: RunningServer) -> None:
    found = findings(server.url, token="a-token-of-another-server")
    assert named(found) == {"token": "token_wrong"}
    assert "a-token-of" not in "".join(f.message + f.advice for f in found.values())


def test_a_token_that_no_header_carries_is_named(server: RunningServer) -> None:
    assert named(findings(server.url, token="two words")) == {"token": "token_invalid"}


def test_with_the_right_token_all_is_well(server: RunningServer, token: str) -> None:
    found = findings(server.url, token=token)
    assert {finding.state for finding in found.values()} == {"ok"}
    assert found["token"].message == "accepted"
    assert found["manifest"].facts["digest"] == server.manifest


@pytest.mark.parametrize(("token", "words"), [(None, "none is needed"), ("x" * 16, "not needed")])
def test_an_open_server_says_that_no_token_is_needed(
    tiny_path: Path, token: str | None, words: str
) -> None:
    with running_server(tiny_path) as running:
        assert words in findings(running.url, token=token)["token"].message


def test_a_manifest_of_another_format_is_named() -> None:
    assert named(_serving(encoded(document(format=2)))) == {"manifest": "manifest_version"}


@pytest.mark.parametrize("manifest", [b"<html>", json.dumps({"format": 1}).encode()])
def test_something_else_than_a_manifest_is_named(manifest: bytes) -> None:
    cause = named(_serving(manifest))
    assert cause in ({"manifest": "manifest_invalid"}, {"manifest": "manifest_version"})


def test_a_server_without_weights_is_named() -> None:
    def get(handler: Any) -> None:
        health = handler.path == "/health"
        respond(handler, 200 if health else 404, b'{"status": "ok"}')

    with http_server(get=get) as endpoint:
        assert named(findings(endpoint.url)) == {"token": "not_a_split_server"}
