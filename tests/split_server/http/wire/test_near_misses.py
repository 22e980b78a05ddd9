"""What a client is told whose base URL is not the one that it needs."""

from __future__ import annotations

import pytest

from split_server.http.wire.near_misses import named
from split_server.security.error_forms import OLLAMA_CLIENT
from tests.server_process import running_server


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/chat/completions", "let the base URL end with that"),
        ("/models", "let the base URL end with that"),
        ("/v1/v1/messages", "leave it out of the base URL"),
        ("/v1/chat/completion", ""),
        ("/nothing", ""),
    ],
)
def test_a_path_without_v1_or_with_two_is_told_what_to_change(path: str, told: str) -> None:
    assert told in named({"path": path})
    assert bool(told) == (named({"path": path}) != "this path")


def test_the_listener_of_ollamas_api_says_where_others_are() -> None:
    assert "Ollama" in named({"path": "/v1/models", OLLAMA_CLIENT: True})
    assert named({"path": "/api/nothing", OLLAMA_CLIENT: True}) == "this path"


def test_a_client_reads_it_and_the_method_that_there_is() -> None:
    with running_server() as server, server.client() as client:
        missed = client.post("/chat/completions", json={}).json()["error"]
        assert (missed["code"], "/v1" in missed["message"]) == ("not_found", True)
        got = client.get("/v1/chat/completions")
        assert (got.status_code, got.headers["allow"]) == (405, "POST")
        assert got.json()["error"]["message"].endswith(": POST")
