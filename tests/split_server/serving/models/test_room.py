"""A room: when it was used, and who is left out of one that comes later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from split_server.security.principal import ANONYMOUS, LOCAL
from split_wire.errors import ShuttingDown
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import TOKEN


@pytest.fixture
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


def test_what_ends_with_its_model_is_not_told_that_the_server_goes() -> None:
    assert str(ShuttingDown()) == (
        "the server, or the model in it, is shutting down; ask again in a while"
    )


def test_a_step_and_a_request_under_way_are_uses(server: RunningServer) -> None:
    room = server.app.first
    made = room.used()
    assert room.used() == made
    with room.visited():
        during = room.used()
        assert during > made
        assert room.used() >= during
    assert room.used() == made
    with server.client() as client:
        client.post("/v1/completions", json={"prompt": "Hi", "max_tokens": 2}).raise_for_status()
    after = room.used()
    assert after > during
    # What asks for figures uses no model.
    with server.client() as client:
        for path in ("/v1/models", "/metrics", "/api/v1/models", "/api/tags"):
            client.get(path).raise_for_status()
    assert room.used() == after


def test_who_had_a_token_before_there_were_none_has_nothing_in_a_model_that_comes(
    server: RunningServer, tiny_path: Path
) -> None:
    gone = server.app._shared.gone
    assert [gone(name) for name in ("alice", LOCAL, ANONYMOUS)] == [True, False, False]
    with running_server(tiny_path, token=TOKEN, compat=False) as guarded:
        # Tokens are looked at again and again there, for every model that is loaded.
        assert not guarded.app._shared.gone("alice")


def test_the_name_that_was_given_is_the_models_in_every_api(tiny_path: Path) -> None:
    with running_server((f"mine={tiny_path}",)) as server, server.client() as client:
        ids = [model["id"] for model in client.get("/v1/models").json()["data"]]
        tags = [model["name"] for model in client.get("/api/tags").json()["models"]]
        kobold = client.get("/api/v1/model").json()["result"]
        alias = client.get("/props").json()["model_alias"]
        (model,) = client.get("/api/v1/models").json()["models"]
        answer = client.post("/v1/completions", json={"model": "mine", "prompt": "Hi"})
        other = client.post("/v1/completions", json={"model": "tiny", "prompt": "Hi"})
    assert (ids, tags, kobold, alias) == (["mine"], ["mine:latest"], "mine", "mine")
    assert (model["name"], model["path"]) == ("mine", "/m/mine")
    assert answer.raise_for_status().json()["model"] == "mine"
    assert other.json()["error"]["code"] == "model_not_found"


def test_without_a_name_a_model_is_called_as_its_checkpoint_is(server: RunningServer) -> None:
    with server.client() as client:
        listed = client.get("/v1/models").json()["data"][0]
        (model,) = client.get("/api/v1/models").json()["models"]
    assert listed["id"] == "tiny"
    # One model alone is listed as it was before there were several.
    assert "state" not in listed
    assert (model["name"], model["state"]) == ("tiny", "loaded")
