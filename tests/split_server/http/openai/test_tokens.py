"""Tokens of texts and chats, the tokenizer and the model, as clients of other servers ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tokenizers import Tokenizer

from split_server.checkpoint.folder import EMBEDDED
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import HELLO, post, refused

TEXT = "Split inference: naïve — 例。 <|im_start|>"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(EMBEDDED) as running:
        yield running


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))


def asked(server: RunningServer, path: str, **values: Any) -> dict[str, Any]:
    answer = post(server, path, **values)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


@pytest.mark.parametrize("name", ["prompt", "content"])
def test_a_text_becomes_the_tokens_that_the_model_reads(
    server: RunningServer, tokenizer: Tokenizer, name: str
) -> None:
    told = asked(server, "/tokenize", **{name: TEXT})
    assert told["tokens"] == tokenizer.encode(TEXT, add_special_tokens=name == "prompt").ids
    assert told["count"] == len(told["tokens"])
    assert told["max_model_len"] == server.parts.steps.info.max_context
    back = asked(server, "/detokenize", tokens=told["tokens"])
    assert back["prompt"] == back["content"] == TEXT


def test_the_text_of_each_token_is_told_on_request(server: RunningServer) -> None:
    told = asked(server, "/tokenize", prompt="Split inference", return_token_strs=True)
    assert "".join(told["token_strs"]) == "Split inference"
    pieces = asked(server, "/tokenize", content="Split inference", with_pieces=True)["tokens"]
    assert [piece["id"] for piece in pieces] == told["tokens"]
    assert "".join(piece["piece"] for piece in pieces) == "Split inference"


def test_a_chat_has_the_tokens_of_its_prompt(server: RunningServer) -> None:
    told = asked(server, "/tokenize", messages=HELLO)
    answer = post(server, "/v1/chat/completions", messages=HELLO, max_tokens=1).json()
    assert told["count"] == answer["usage"]["prompt_tokens"]
    shorter = asked(server, "/tokenize", messages=HELLO, add_generation_prompt=False)
    assert told["tokens"][: shorter["count"]] == shorter["tokens"]
    assert shorter["count"] < told["count"]


@pytest.mark.parametrize(
    ("path", "values", "param"),
    [
        ("/tokenize", {}, "prompt"),
        ("/tokenize", {"prompt": "a", "content": "a"}, "prompt"),
        ("/tokenize", {"prompt": 3}, "prompt"),
        ("/tokenize", {"prompt": "a", "other": 1}, "other"),
        ("/tokenize", {"content": "a", "parse_special": False}, "parse_special"),
        ("/detokenize", {}, "tokens"),
        ("/detokenize", {"tokens": [-1]}, "tokens"),
        ("/detokenize", {"tokens": "x"}, "tokens"),
    ],
)
def test_what_is_wrong_is_named(
    server: RunningServer, path: str, values: dict[str, Any], param: str
) -> None:
    assert refused(post(server, path, **values), 400)["param"] == param


def test_a_text_of_many_contexts_is_refused(server: RunningServer) -> None:
    answer = post(server, "/tokenize", prompt="a b " * 100_000)
    assert refused(answer, 413)["code"] == "prompt_too_large"


def test_the_tokenizer_and_the_model_are_described(server: RunningServer) -> None:
    with server.client() as client:
        info, props = client.get("/tokenizer_info").json(), client.get("/props").json()
        (model,) = client.get("/v1/models").json()["data"]
    known = server.parts.manifest.data
    assert info["eos_token"]
    assert info["eos_token"].encode() in known
    assert info["chat_template"] == props["chat_template"]
    assert "messages" in info["chat_template"]
    context = server.parts.steps.info.max_context
    assert props["default_generation_settings"]["n_ctx"] == context
    assert info["model_max_length"] == model["max_model_len"] == context
    assert props["model_alias"] == model["id"]
