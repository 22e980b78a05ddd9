"""Several models of which one has no text APIs, since its tokenizer cannot be used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.serving.models.fixed import fixed

CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}


@pytest.fixture(scope="module")
def mute_path(other_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer has tokens that its table has no rows for."""
    path = tmp_path_factory.mktemp("mute") / "mute"
    shutil.copytree(other_path, path)
    tokenizer = json.loads((path / "tokenizer.json").read_text())
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    rows = json.loads((path / "config.json").read_text())["vocab_size"]
    for number in range(rows, 2 * rows):
        beyond = {"id": number, "content": f"<|beyond {number}|>"}
        tokenizer["added_tokens"].append(beyond | flags)
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    return path


@pytest.fixture(scope="module")
def mute_first(mute_path: Path, tiny_path: Path) -> Iterator[RunningServer]:
    models = (f"mute={mute_path}", f"other={tiny_path}")
    with running_server(
        models, served=fixed, dtype="float32", ollama_listen="127.0.0.1:0"
    ) as server:
        yield server


@pytest.fixture(scope="module")
def mute_second(mute_path: Path, tiny_path: Path) -> Iterator[RunningServer]:
    models = (f"first={tiny_path}", f"mute={mute_path}")
    with running_server(models, served=fixed, dtype="float32") as server:
        yield server


def test_below_the_name_of_one_without_texts_its_list_is_empty(mute_second: RunningServer) -> None:
    with mute_second.client() as client:
        client.post("/api/v1/models/mute/load").raise_for_status()
        below = client.get("/m/mute/v1/models").json()["data"]
        alias = client.get("/m/mute/v1/models/gatelink").status_code
    assert (below, alias) == ([], 404)


def test_text_apis_of_others_are_there_where_the_first_model_has_none(
    mute_first: RunningServer,
) -> None:
    with mute_first.client() as client:
        listed = client.get("/m/other/v1/models").json()["data"]
        below = client.post("/m/other/v1/chat/completions", json=CHAT).json()
        named = client.post("/v1/chat/completions", json=CHAT | {"model": "other"}).json()
        kobold = client.get("/m/other/api/v1/model").json()
        nothing = client.get("/m/other/nothing").status_code
    assert [one["id"] for one in listed] == ["other"]
    assert (below["model"], named["model"], kobold["result"]) == ("other", "other", "other")
    assert nothing == 404


def test_lists_of_text_apis_leave_out_what_is_known_to_have_none(
    mute_first: RunningServer,
) -> None:
    with mute_first.client() as client:
        ids = [one["id"] for one in client.get("/v1/models").json()["data"]]
        tags = [one["name"] for one in client.get("/api/tags").json()["models"]]
        below = client.get("/m/mute/v1/models").status_code
        frames = [one["name"] for one in client.get("/api/v1/models").json()["models"]]
    assert (ids, tags, below) == (["other"], ["other:latest"], 404)
    assert frames == ["mute", "other"]


@pytest.mark.parametrize("which", ["mute_first", "mute_second"])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/m/mute/v1/chat/completions"])
def test_a_text_of_a_model_that_has_none_is_refused_in_words(
    request: pytest.FixtureRequest, which: str, path: str
) -> None:
    server: RunningServer = request.getfixturevalue(which)
    with server.client() as client:
        answer = client.post(path, json=CHAT | {"model": "mute"})
    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "message": "text of model 'mute', of which the server's log says why, is not served here",
        "type": "invalid_request_error",
        "param": None,
        "code": "not_found",
    }


def test_without_text_apis_no_text_has_a_model_loaded(tiny_path: Path, other_path: Path) -> None:
    models = (f"first={tiny_path}", f"other={other_path}")
    with (
        running_server(models, served=fixed, dtype="float32", compat=False) as server,
        server.client() as client,
    ):
        answer = client.post("/v1/chat/completions", json=CHAT | {"model": "other"})
        states = [one["state"] for one in client.get("/api/v1/models").json()["models"]]
    assert (answer.status_code, states) == (404, ["loaded", "unloaded"])
