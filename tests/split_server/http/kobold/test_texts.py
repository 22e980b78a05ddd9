"""Tokenizer, documents and the little requests that tools probe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.checkpoints import CHAT_TEMPLATE
from tests.server_process import RunningServer
from tests.split_server.conftest import ALLOWED_ORIGIN
from tests.split_server.http.kobold.client import GENERATE, events, post

TEXT = "Grüße aus 東京 \U0001f600 <|im_end|> ok"


def get(server: RunningServer, path: str) -> Any:
    with server.client() as client:
        response = client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


def test_both_model_documents_have_all_fields_of_the_specification(
    open_server: RunningServer, tiny_path: Path
) -> None:
    model = get(open_server, "/api/v1/model")
    assert model == get(open_server, "/api/v1/model/info")
    config = json.loads((tiny_path / "config.json").read_text())
    for name in (
        "vocab_size",
        "num_attention_heads",
        "num_key_value_heads",
        "hidden_size",
        "max_position_embeddings",
        "bos_token_id",
        "eos_token_id",
    ):
        assert model[name] == config[name], name
    assert model["num_layers"] == config["num_hidden_layers"]
    assert model["architecture"] == config["architectures"][0]
    assert model["rope_theta"] > 0
    assert model["torch_dtype"] == "float32"
    assert model["chat_template"] == CHAT_TEMPLATE
    assert model["context_length"] == model["max_context_length"] == 512
    tokenizer = Tokenizer.from_file(str(tiny_path / "tokenizer.json"))
    special = model["special_tokens"]
    assert special["eos_token"] == "<|im_end|>"
    assert special["im_end_id"] == tokenizer.token_to_id("<|im_end|>")
    assert special["im_start_id"] == tokenizer.token_to_id("<|im_start|>")
    assert model["model_name"] == model["result"] == tiny_path.name


def test_tools_find_what_they_probe(open_server: RunningServer) -> None:
    assert get(open_server, "/api/extra/attention_version")["attention"] is True
    assert get(open_server, "/api/v1/info/version")["result"].count(".") == 2
    assert get(open_server, "/api/extra/version")["result"] == "KoboldCpp"
    assert get(open_server, "/api/v1/config/max_context_length") == {"value": 512}
    assert get(open_server, "/api/extra/true_max_context_length") == {"value": 512}
    assert get(open_server, "/api/v1/config/max_length")["value"] > 0
    assert get(open_server, "/api/extra/preloadstory") == {}


@pytest.mark.parametrize("kind", ["application/json", "text/plain;charset=UTF-8"])
def test_tokens_join_to_the_text_and_go_back_to_it(
    open_server: RunningServer, tiny_path: Path, kind: str
) -> None:
    with open_server.client() as client:
        response = client.post(
            "/api/v1/tokenize",
            content=json.dumps({"text": TEXT}),
            headers={"Content-Type": kind},
        )
    told = response.json()
    tokenizer = Tokenizer.from_file(str(tiny_path / "tokenizer.json"))
    assert told["token_ids"] == tokenizer.encode(TEXT, add_special_tokens=False).ids
    assert told["token_count"] == len(told["token_ids"])
    assert [token["token_id"] for token in told["tokens"]] == told["token_ids"]
    assert "".join(token["text"] for token in told["tokens"]) == TEXT
    assert post(open_server, "/api/v1/detokenize", token_ids=told["token_ids"]) == {"text": TEXT}
    assert post(open_server, "/api/extra/tokencount", prompt=TEXT)["value"] == told["token_count"]


def test_a_long_text_is_put_together_alike(open_server: RunningServer) -> None:
    told = post(open_server, "/api/v1/tokenize", text=TEXT * 100)
    assert "".join(token["text"] for token in told["tokens"]) == TEXT * 100
    ids = told["token_ids"]
    assert post(open_server, "/api/v1/detokenize", token_ids=ids) == {"text": TEXT * 100}


def test_an_empty_text_has_no_tokens(open_server: RunningServer) -> None:
    told = post(open_server, "/api/v1/tokenize", text="")
    assert told == {"tokens": [], "token_ids": [], "token_count": 0}
    assert post(open_server, "/api/v1/detokenize", token_ids=[]) == {"text": ""}


@pytest.mark.parametrize(
    ("path", "fields", "code"),
    [
        ("/api/v1/tokenize", {}, "INVALID_REQUEST"),
        ("/api/v1/tokenize", {"text": 5}, "INVALID_PARAMETER"),
        ("/api/v1/tokenize", {"text": "a", "add_special_tokens": "no"}, "INVALID_PARAMETER"),
        ("/api/v1/detokenize", {}, "INVALID_REQUEST"),
        ("/api/v1/detokenize", {"token_ids": [1, "2"]}, "INVALID_PARAMETER"),
        ("/api/v1/detokenize", {"token_ids": [10**6]}, "INVALID_TOKEN"),
        ("/api/extra/tokencount", {}, "INVALID_REQUEST"),
    ],
)
def test_what_is_no_text_is_refused(
    open_server: RunningServer, path: str, fields: dict[str, Any], code: str
) -> None:
    with open_server.client() as client:
        response = client.post(path, json=fields)
    assert (response.status_code, response.json()["error_code"]) == (400, code)


def test_an_allowed_page_reads_answers_and_refusals(open_server: RunningServer) -> None:
    with open_server.client(headers={"Origin": ALLOWED_ORIGIN}) as client:
        answers = [
            client.post("/api/v1/tokenize", content='{"text": "a"}'),
            client.post("/api/v1/tokenize", content="nonsense"),
            client.post(GENERATE, json={"input_ids": [-1]}),
            client.get("/api/v1/model"),
        ]
    assert [answer.status_code for answer in answers] == [200, 400, 400, 200]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == ALLOWED_ORIGIN


def test_kobold_s_own_clients_read_text_where_they_sent_text(open_server: RunningServer) -> None:
    fields: dict[str, Any] = {"prompt": "Hello", "max_length": 6, "temperature": 0}
    told = events(open_server, **fields)
    text = post(open_server, GENERATE, **fields)["results"][0]["text"]
    assert "".join(event["token"] for event in told[:-1]) == text
    assert "".join(event["text"] for event in told[:-1]) == text


def test_text_and_its_ids_are_continued_alike(open_server: RunningServer) -> None:
    ids = post(open_server, "/api/extra/tokencount", prompt="memory Hello")["ids"]
    greedy: dict[str, Any] = {"max_length": 6, "temperature": 0}
    by_ids = post(open_server, GENERATE, input_ids=ids, **greedy)
    by_text = post(open_server, GENERATE, memory="memory ", prompt="Hello", **greedy)
    assert by_text["generated_tokens"] == by_ids["generated_tokens"]


LONG = "Long texts, and longer ones. 東京 「é」 \U0001f600\n" * 800


def test_a_text_in_pieces_is_tokenized_and_counted_alike(
    open_server: RunningServer, tiny_path: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(tiny_path / "tokenizer.json"))
    ids = tokenizer.encode(LONG, add_special_tokens=False).ids
    told = post(open_server, "/api/v1/tokenize", text=LONG)
    assert told["token_ids"] == [token["token_id"] for token in told["tokens"]] == ids
    assert told["token_count"] == len(ids)
    assert "".join(token["text"] for token in told["tokens"]) == LONG
    assert post(open_server, "/api/v1/detokenize", token_ids=ids) == {"text": LONG}
    counted = post(open_server, "/api/extra/tokencount", prompt=LONG, special=False)
    assert counted == {"value": len(ids), "ids": ids}


@pytest.mark.parametrize("path", ["/api/v1/tokenize", "/api/extra/tokencount"])
def test_a_count_is_refused_rather_than_cut(open_server: RunningServer, path: str) -> None:
    text = "Hello, you. " * 25_000
    with open_server.client() as client:
        response = client.post(path, json={"text": text, "prompt": text})
    assert (response.status_code, response.json()["error_code"]) == (413, "TEXT_TOO_LONG")


def test_a_prompt_that_no_context_holds_is_refused_unread(open_server: RunningServer) -> None:
    with open_server.client() as client:
        response = client.post(GENERATE, json={"prompt": "a" * 900_000})
    assert (response.status_code, response.json()["error_code"]) == (413, "CONTEXT_TOO_LONG")
