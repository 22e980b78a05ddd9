"""Requests for embeddings, of two APIs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_server.compat.embeddings.known import OLLAMA, OLLAMA_ONE, OPENAI
from split_server.compat.embeddings.request import (
    MAX_INPUTS,
    MAX_NUMBERS,
    EmbeddingsRequest,
    parse_embeddings_request,
    parse_ollama_embed,
    parse_ollama_embeddings,
)
from split_server.compat.openai.errors import ModelNotFound, OpenAIError
from split_server.compat.openai.fields import parse_body
from tests.split_server.compat.openai.requests import SERVED

SMALL = replace(SERVED, hidden_size=64)
DOCS = Path(__file__).parents[4] / "docs" / "embeddings.md"


def parse(**values: Any) -> EmbeddingsRequest:
    body = json.dumps({"input": "Hello"} | values).encode()
    return parse_embeddings_request(parse_body(body), SMALL)


def embed(**values: Any) -> EmbeddingsRequest:
    body = json.dumps({"model": "tiny:latest", "input": "Hello"} | values).encode()
    return parse_ollama_embed(parse_body(body), SMALL)


def refused(parsing: Any, **values: Any) -> str | None:
    with pytest.raises(OpenAIError) as error:
        parsing(**values)
    return error.value.param


@pytest.mark.parametrize(
    ("given", "inputs"),
    [
        ("Hello", ("Hello",)),
        (["a", "b"], ("a", "b")),
        ([1, 2], ((1, 2),)),
        ([[1, 2], [3]], ((1, 2), (3,))),
        (["a", [3]], ("a", (3,))),
    ],
)
def test_texts_and_token_ids_come_alone_or_in_lists(given: Any, inputs: Any) -> None:
    for parsing in (parse, embed):
        assert parsing(input=given).inputs == inputs


def test_what_is_not_said_is_a_mean_in_numbers() -> None:
    asked = parse()
    assert (asked.pooling, asked.binary, asked.truncate) == ("mean", False, False)
    asked = parse(pooling="last", encoding_format="base64", user="ada", dimensions=64)
    assert (asked.pooling, asked.binary) == ("last", True)


def test_ollamas_texts_are_cut_unless_they_are_not_to_be() -> None:
    assert embed().truncate
    assert not embed(truncate=False).truncate
    assert embed(keep_alive="5m", options={"num_ctx": 5}).model == "tiny:latest"


@pytest.mark.parametrize("given", [None, "", []])
def test_without_texts_ollamas_answer_is_empty(given: Any) -> None:
    assert embed(input=given).inputs == ()
    body = json.dumps({"model": "tiny", "prompt": given or None}).encode()
    assert parse_ollama_embeddings(parse_body(body), SMALL).inputs == ()


def test_the_older_path_has_one_text() -> None:
    body = json.dumps({"model": "tiny", "prompt": "Hello"}).encode()
    assert parse_ollama_embeddings(parse_body(body), SMALL).inputs == ("Hello",)


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": {}}, "input"),
        ({"input": [[]]}, "input[0]"),
        ({"input": ["a", 5]}, "input[1]"),
        ({"input": [300]}, "input"),
        ({"input": [True]}, "input"),
        ({"input": ["a"] * (MAX_INPUTS + 1)}, "input"),
        ({"encoding_format": "hex"}, "encoding_format"),
        ({"pooling": "max"}, "pooling"),
        ({"dimensions": 32}, "dimensions"),
        ({"dimensions": 0}, "dimensions"),
        ({"unheard_of": 1}, "unheard_of"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(values: dict[str, Any], param: str) -> None:
    assert refused(parse, **values) == param


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"model": None}, "model"),
        ({"input": 5}, "input"),
        ({"truncate": 1}, "truncate"),
        ({"dimensions": 32}, "dimensions"),
        ({"options": {"mirostat": 1}}, "options.mirostat"),
        ({"prompt": "a"}, "prompt"),
    ],
    ids=str,
)
def test_what_is_wrong_with_ollamas_is_named(values: dict[str, Any], param: str) -> None:
    assert refused(embed, **values) == param


def test_an_answer_has_so_many_numbers_at_most() -> None:
    wide = replace(SMALL, hidden_size=MAX_NUMBERS // 2)
    body = json.dumps({"input": ["a", "b", "c"]}).encode()
    with pytest.raises(OpenAIError, match="at most 2 texts"):
        parse_embeddings_request(parse_body(body), wide)


def test_any_other_model_is_unknown() -> None:
    for parsing in (parse, embed):
        with pytest.raises(ModelNotFound):
            parsing(model="other")


def test_every_field_of_the_references_is_honoured_or_listed() -> None:
    assert OPENAI.names == {
        "input", "model", "encoding_format", "dimensions", "user", "pooling",
    }  # fmt: skip
    assert OLLAMA.names == {
        "input", "model", "name", "truncate", "dimensions", "options", "keep_alive", "pooling",
    }  # fmt: skip
    assert OLLAMA_ONE.names == {"prompt", "model", "name", "options", "keep_alive", "pooling"}
    told = DOCS.read_text()
    assert all(f"`{name}`" in told for known in (OPENAI, OLLAMA) for name in known.names)
