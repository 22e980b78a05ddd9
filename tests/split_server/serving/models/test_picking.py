"""At the root the name in the body picks the model, in every dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import oracle
from tests.patience import PATIENCE
from tests.server_process import RunningServer
from tests.split_server.conftest import TOKEN
from tests.split_server.serving.models.conftest import TwoModels
from tests.split_server.serving.models.test_door import COUNT, HELLO, expected

CHAT: dict[str, Any] = {"messages": HELLO, "temperature": 0, "max_tokens": COUNT}
GREEDY = {"temperature": 0, "num_predict": COUNT}


def text_of(path: Path) -> str:
    text: str = oracle.tokenizer(path).decode(expected(path), skip_special_tokens=True)
    return text


def chat(document: dict[str, Any]) -> str:
    return str(document["choices"][0]["message"]["content"])


def message(document: dict[str, Any]) -> str:
    return "".join(part["text"] for part in document["content"])


def response(document: dict[str, Any]) -> str:
    return "".join(part["text"] for item in document["output"] for part in item["content"])


def ollama(document: dict[str, Any]) -> str:
    return str(document["message"]["content"])


DIALECTS: list[tuple[str, dict[str, Any], Callable[[dict[str, Any]], str]]] = [
    ("/v1/chat/completions", CHAT, chat),
    ("/v1/messages", CHAT, message),
    (
        "/v1/responses",
        {"input": HELLO, "temperature": 0, "max_output_tokens": COUNT},
        response,
    ),
    ("/api/chat", {"messages": HELLO, "options": GREEDY, "stream": False}, ollama),
]


@pytest.mark.parametrize(("path", "asked", "told"), DIALECTS, ids=[one[0] for one in DIALECTS])
def test_a_chat_is_that_of_the_model_that_is_named(
    server: RunningServer,
    tiny_path: Path,
    other_path: Path,
    path: str,
    asked: dict[str, Any],
    told: Callable[[dict[str, Any]], str],
) -> None:
    with server.client() as client:
        texts = {
            name: told(client.post(path, json=asked | {"model": name}).raise_for_status().json())
            for name in ("first", "other")
        }
    assert texts == {"first": text_of(tiny_path), "other": text_of(other_path)}


def test_every_other_request_is_answered_by_the_model_that_is_named(
    server: RunningServer, tiny_path: Path, other_path: Path
) -> None:
    text = "What is split inference? Grüße aus Köln"
    counts, told = [], []
    with server.client() as client:

        def post(path: str, **asked: Any) -> dict[str, Any]:
            found: dict[str, Any] = client.post(path, json=asked).raise_for_status().json()
            return found

        for name in ("first", "other"):
            counts.append(post("/tokenize", model=name, prompt=text)["count"])
            told.append(
                (
                    post("/v1/completions", model=name, prompt=text, max_tokens=2)["model"],
                    post("/v1/embeddings", model=name, input=text)["model"],
                    post("/api/generate", model=name, prompt=text, stream=False, options=GREEDY)[
                        "model"
                    ],
                    post("/api/embed", model=f"{name}:latest", input=text)["model"],
                    post("/api/show", name=name)["model_info"]["general.basename"],
                    post("/v1/messages/count_tokens", model=name, messages=HELLO)["input_tokens"],
                )
            )
    tokenizers = [oracle.tokenizer(path) for path in (tiny_path, other_path)]
    assert counts == [len(tokenizer.encode(text)) for tokenizer in tokenizers]
    for name, row in zip(("first", "other"), told, strict=True):
        assert row[:5] == (name, name, name, f"{name}:latest", name)
        assert row[5] > 0


@pytest.mark.parametrize("named", [{}, {"model": ""}, {"model": None}, {"model": "gatelink"}])
def test_who_names_none_gets_the_first(server: RunningServer, named: dict[str, Any]) -> None:
    with server.client() as client:
        answer = client.post("/v1/completions", json={"prompt": "Hi", "max_tokens": 1} | named)
    assert answer.raise_for_status().json()["model"] == "first"


def test_a_name_that_nobody_has_is_refused_in_each_dialect(server: RunningServer) -> None:
    with server.client() as client:
        answers = {
            path: client.post(path, json=asked | {"model": "nobody"}) for path, asked, _ in DIALECTS
        }
        below = client.post("/m/nobody/v1/chat/completions", json=CHAT)
        one = client.get("/v1/models/nobody")
        shown = client.post("/api/show", json={"model": "nobody:latest"})
    for answer in (*answers.values(), below, one, shown):
        assert answer.status_code == 404
    for answer in (answers["/v1/chat/completions"], answers["/v1/responses"], below, one):
        error = answer.json()["error"]
        assert (error["code"], error["type"]) == ("model_not_found", "invalid_request_error")
        assert "first, other" in error["message"]
    anthropic = answers["/v1/messages"].json()
    assert (anthropic["type"], anthropic["error"]["type"]) == ("error", "not_found_error")
    for answer in (answers["/api/chat"], shown):
        assert answer.json()["error"].startswith("model 'nobody' not found")


def test_lists_show_both_and_ollamas_listener_picks_too(
    server: RunningServer, other_path: Path
) -> None:
    url = f"http://127.0.0.1:{server.ollama_port}"
    asked = {"model": "other", "messages": HELLO, "options": GREEDY, "stream": False}
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
        answer = client.post("/api/chat", json=asked).raise_for_status().json()
        tags, running = client.get("/api/tags").json(), client.get("/api/ps").json()
        nobody = client.post("/api/chat", json=asked | {"model": "nobody"})
        below = client.post("/m/other/api/chat", json=asked).raise_for_status().json()
        elsewhere = client.get("/v1/models")
    with server.client() as client:
        listed = client.get("/v1/models").json()["data"]
        one = client.get("/v1/models/other").json()
    assert ollama(answer) == ollama(below) == text_of(other_path)
    assert [model["name"] for model in tags["models"]] == ["first:latest", "other:latest"]
    assert [model["name"] for model in running["models"]] == ["first:latest", "other:latest"]
    assert [(model["id"], model["state"]) for model in listed] == [
        ("first", "loaded"),
        ("other", "loaded"),
    ]
    assert one["id"] == "other"
    assert (nobody.status_code, elsewhere.status_code) == (404, 404)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"model": 7, "prompt": "Hi"}', "invalid_value"),
        (b'{"model": ["other"], "prompt": "Hi"}', "invalid_value"),
        (b'{"model": {"other": 1}, "prompt": "Hi"}', "invalid_value"),
        (b'{"model": "%s", "prompt": "Hi"}' % (b"x" * 600), "invalid_value"),
        (b'{"model": "%s", "prompt": "Hi"}' % (b"x" * 300), "model_not_found"),
        (b'{"model": "../other", "prompt": "Hi"}', "model_not_found"),
        (b'{"model": "\\ud800", "prompt": "Hi"}', "model_not_found"),
        (b'{"model": "other', "invalid_json"),
        (b'["model", "other"]', "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"", "invalid_json"),
    ],
)
def test_a_body_that_is_wrong_is_told_what_is_wrong(
    server: RunningServer, body: bytes, code: str
) -> None:
    with server.client() as client:
        answer = client.post("/v1/completions", content=body)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["code"] == code
    assert len(answer.text) < 1000


def test_of_two_names_both_readers_take_the_same(server: RunningServer) -> None:
    body = b'{"model": "first", "prompt": "Hi", "max_tokens": 1, "model": "other"}'
    with server.client() as client:
        answer = client.post("/v1/completions", content=body)
    assert answer.raise_for_status().json()["model"] == "other"


def test_a_body_counts_once_and_has_the_usual_bound(two_models: TwoModels) -> None:
    with two_models(max_queued_bytes=5 << 20) as server, server.client() as client:
        # Two thirds of what one principal may have under way: counted twice it would be too much.
        text = "x" * (3 << 20)
        large = client.post("/v1/completions", json={"model": "other", "prompt": text})
        small = client.post("/v1/completions", json={"model": "other", "prompt": "Hi"})
        beyond = client.post("/v1/completions", content=b"x" * ((4 << 20) + 1))
        endless = client.post(
            "/v1/messages", content=(b"x" * 65536 for _ in range(100)), timeout=PATIENCE
        )
    assert large.json()["error"]["code"] in ("text_too_costly", "prompt_too_large")
    assert small.status_code == 200
    assert (beyond.status_code, beyond.json()["error"]["code"]) == (413, "request_too_large")
    assert (endless.status_code, endless.json()["error"]["type"]) == (413, "request_too_large")


def test_a_stored_response_is_found_whichever_model_gave_it(
    server: RunningServer, other_path: Path
) -> None:
    asked = {"model": "other", "input": HELLO, "store": True, "max_output_tokens": 4}
    with server.client() as client:
        made = client.post("/v1/responses", json=asked).raise_for_status().json()
        found = client.get(f"/v1/responses/{made['id']}").raise_for_status().json()
        deleted = client.delete(f"/v1/responses/{made['id']}").json()
    assert found["model"] == "other"
    assert deleted["deleted"]


def test_kobold_is_the_first_models_at_the_root(server: RunningServer, tiny_path: Path) -> None:
    with server.client() as client:
        model = client.get("/api/v1/model").json()["result"]
        asked = {"prompt": "Hi", "max_length": 2, "model": "other"}
        answer = client.post("/api/v1/generate", json=asked)
        below = client.get("/m/other/api/v1/model").json()["result"]
    assert (model, below) == ("first", "other")
    assert answer.status_code == 200


def test_a_token_is_asked_for_before_a_body_is_read(two_models: TwoModels) -> None:
    with two_models(token=TOKEN) as server, server.client() as client:
        body = json.dumps(CHAT | {"model": "other"})
        answer = client.post("/v1/chat/completions", content=body)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        states = client.get("/api/v1/models", headers=headers).json()["models"]
    assert answer.status_code == 401
    assert [model["state"] for model in states] == ["loaded", "unloaded"]
