"""tests/vectors/forms.json: which texts a form has, token by token, and what is refused by name."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tokenizers import Tokenizer

from split_client.grammar.compiling import compiled_form
from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.form import Choice, Form, JsonSchema, Regex
from split_client.grammar.vocabulary import Vocabulary
from tests.checkpoints import tiny_tokenizer

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "forms.json").read_text("ascii"))
SCHEMAS = VECTORS["schemas"]


@pytest.fixture(scope="module", params=["bytes", "trained"])
def words(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A vocabulary of bytes and one of a trained model, with the tokenizers that write texts."""
    if request.param == "bytes":
        tokenizer = tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))
        return tokenizer, Vocabulary(tokenizer.to_str(), 325, frozenset({0, 2}))
    text = (files("split_server") / "embedded" / "tokenizer.json").read_text("utf-8")
    return Tokenizer.from_str(text), Vocabulary(text, 2048, frozenset({2047}))


def takes(words: Any, form: Form, text: str) -> bool:
    """Whether masks allow the tokens of ``text`` and its end after the last of them."""
    tokenizer, vocabulary = words
    constraint = compiled_form(vocabulary, form)()
    ids = canonical(tokenizer, vocabulary, text)
    for index, token in enumerate(ids):
        if not constraint.allowed(400 - index)[token]:
            return False
        constraint.accept(token)
    return constraint.whole


def canonical(tokenizer: Any, vocabulary: Vocabulary, text: str) -> list[int]:
    ids = list(tokenizer.encode(text, add_special_tokens=False).ids)
    assert vocabulary.text(ids) == text.encode()
    return ids


@pytest.mark.parametrize("case", SCHEMAS, ids=[case["name"] for case in SCHEMAS])
def test_texts_of_a_schema_are_taken_and_others_not(words: Any, case: dict[str, Any]) -> None:
    form = JsonSchema.of(case["schema"])
    for text in case["accepted"]:
        assert takes(words, form, text), text
        jsonschema.Draft202012Validator(case["schema"]).validate(json.loads(text))
    for text in case["refused"]:
        assert not takes(words, form, text), text


@pytest.mark.parametrize("case", VECTORS["choices"], ids=lambda case: case["texts"][0])
def test_one_of_some_texts_is_taken(words: Any, case: dict[str, Any]) -> None:
    form = Choice(tuple(case["texts"]))
    assert all(takes(words, form, text) for text in case["accepted"])
    assert not any(takes(words, form, text) for text in case["refused"])


@pytest.mark.parametrize("case", VECTORS["regexes"], ids=lambda case: case["pattern"])
def test_what_a_regular_expression_matches_is_taken(words: Any, case: dict[str, Any]) -> None:
    form = Regex(case["pattern"])
    assert [text for text in case["accepted"] if not takes(words, form, text)] == []
    assert [text for text in case["refused"] if takes(words, form, text)] == []


@pytest.mark.parametrize("case", VECTORS["refusals"], ids=lambda case: json.dumps(case)[:60])
def test_what_cannot_be_enforced_is_refused_by_name(words: Any, case: dict[str, Any]) -> None:
    with pytest.raises(GrammarInvalid) as refusal:
        compiled_form(words[1], refused_form(case))
    assert refusal.value.code == case["code"]
    if "keyword" in case:
        assert case["keyword"] in refusal.value.reason
        assert f" at {case['path']} " in refusal.value.reason


def refused_form(case: dict[str, Any]) -> Form:
    if "choice" in case:
        return Choice(tuple(case["choice"]))
    return Regex(case["regex"]) if "regex" in case else JsonSchema(json.dumps(case["schema"]))
