from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import llguidance
import pytest

from split_client.grammar.closing import closing_path
from split_client.grammar.place import Place
from split_client.grammar.vocabulary import Vocabulary
from tests.checkpoints import tiny_tokenizer


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    tokenizer = tiny_tokenizer(Path(tmp_path_factory.mktemp("tokenizer")))
    return Vocabulary(tokenizer.to_str(), 325, frozenset({0, 2}))


def matcher_after(vocabulary: Vocabulary, schema: dict[str, Any], text: str) -> Any:
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        json.dumps(schema), overrides={"whitespace_flexible": False}
    )
    matcher = llguidance.LLMatcher(vocabulary.tokenizer, grammar, log_level=0)
    for token in vocabulary.tokenizer.greedy_tokenize(text) if text else ():
        assert matcher.consume_token(token)
    return matcher


def closed(
    vocabulary: Vocabulary, schema: dict[str, Any], text: str, limit: int = 200
) -> str | None:
    matcher = matcher_after(vocabulary, schema, text)
    place = Place().after(text.encode())
    path = closing_path(matcher, place, vocabulary, limit)
    if path is None:
        return None
    assert len(path) <= limit
    # The matcher was left where it was, and the path leads to an end from there.
    assert matcher.consume_tokens(list(path)) or not path
    assert matcher.is_accepting()
    return text + vocabulary.text(path).decode()


EXPRESSION = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"op": {"const": "add"}, "l": {"$ref": "#"}, "r": {"$ref": "#"}},
            "required": ["op", "l", "r"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"op": {"const": "n"}, "v": {"type": "integer"}},
            "required": ["op", "v"],
            "additionalProperties": False,
        },
    ]
}


@pytest.mark.parametrize(
    ("schema", "text", "whole"),
    [
        ({}, "", "0"),
        ({"type": "object"}, '{"a":{"b":[1,', '{"a":{"b":[1,0]}}'),
        ({"type": "object"}, '{"a":"x', '{"a":"x"}'),
        ({"type": "object"}, '{"a":-', '{"a":-0}'),
        ({"type": "object"}, '{"a":1e', '{"a":1e0}'),
        ({"type": "object"}, '{"a":tr', '{"a":true}'),
        ({"type": "string", "minLength": 4}, '"a', None),
        ({"enum": ["apple", "ant"]}, '"a', '"ant"'),
        ({"type": "string", "pattern": "^a*b$"}, '"aaa', '"aaab"'),
        ({"type": "string", "pattern": "^.*Z$"}, '"a', '"aZ"'),
        ({"type": "integer", "minimum": 100}, "1", None),
        (EXPRESSION, "", '{"op":"n","v":0}'),
        (EXPRESSION, '{"op":"add","l":', None),
    ],
)
def test_a_text_is_ended_shortly(
    vocabulary: Vocabulary, schema: dict[str, Any], text: str, whole: str | None
) -> None:
    found = closed(vocabulary, schema, text)
    assert found is not None
    json.loads(found)
    if whole is not None:
        assert found == whole


def test_deep_texts_are_ended_one_after_the_other(vocabulary: Vocabulary) -> None:
    text = '{"op":"add","l":' * 40
    found = closed(vocabulary, EXPRESSION, text, limit=4_000)
    assert found is not None
    assert json.loads(found)["l"]["l"]["op"] == "add"


def test_there_is_no_path_longer_than_the_limit(vocabulary: Vocabulary) -> None:
    schema = {"type": "string", "minLength": 30}
    assert closed(vocabulary, schema, '"abc', limit=27) is None
    assert closed(vocabulary, schema, '"abc', limit=28) is not None


def test_the_end_of_a_known_path_serves_again(vocabulary: Vocabulary) -> None:
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    before = matcher_after(vocabulary, schema, "[[1")
    known = closing_path(before, Place().after(b"[[1"), vocabulary, 50)
    assert known is not None
    assert vocabulary.text(known) == b"]]"
    after = matcher_after(vocabulary, schema, "[[1],[2")
    path = closing_path(after, Place().after(b"[[1],[2"), vocabulary, 50, known=known)
    assert path is not None
    assert vocabulary.text(path) == b"]]"
