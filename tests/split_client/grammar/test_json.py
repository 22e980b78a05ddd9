"""Replies under a JSON grammar parse and validate, whatever chooses the tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from tokenizers import Tokenizer

from split_client.generation.loop import Event, Finished, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.grammar.errors import GrammarInvalid
from split_client.model.tokenizer import ModelTokenizer
from split_server.compat.backend import EngineBackend
from tests.checkpoints import tiny_tokenizer
from tests.engines import TinySessions
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.grammar.schemas import Grammars, opening, random_schema, weighted, write
from tests.split_server.compat.test_backend import beside, embed, exact_head

EOS = frozenset({0, 2})
ROWS = 325  # five more than the tokenizer has tokens
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def grammars(tokenizer: Any) -> Grammars:
    return Grammars(tokenizer.to_str(), ROWS, EOS)


def text_of(tokenizer: Any, tokens: list[int]) -> str:
    return str(tokenizer.decode(tokens))


def written(grammars: Grammars, tokenizer: Any, schema: Any, seed: int, most: int) -> str:
    constraint = grammars.schema(schema)()
    return text_of(tokenizer, write(constraint, weighted(seed), most, EOS))


def check(schema: dict[str, Any], text: str) -> None:
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("seed", range(0, 200, 1 if EXHAUSTIVE else 3))
def test_texts_of_a_random_schema_parse_and_validate(
    grammars: Grammars, tokenizer: Any, seed: int
) -> None:
    schema = random_schema(seed)
    jsonschema.Draft202012Validator.check_schema(schema)
    # Every schema with either number of tokens; else the schemas have them in turns.
    for most in (400, 250) if EXHAUSTIVE else (400 if seed % 2 else 250,):
        check(schema, written(grammars, tokenizer, schema, seed, most))


@pytest.fixture(scope="module")
def embedded() -> Any:
    """A tokenizer of a trained model, with tokens that open several things at once."""
    path = files("split_server") / "embedded" / "tokenizer.json"
    return Tokenizer.from_str(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", range(0, 40, 1 if EXHAUSTIVE else 3))
def test_texts_that_open_all_they_can_still_end_whole(embedded: Any, seed: int) -> None:
    schema, eos = random_schema(2_000 + seed), frozenset({2047})
    texts = [embedded.decode([token]).encode() for token in range(2048)]
    constraint = Grammars(embedded.to_str(), 2048, eos).schema(schema)()
    tokens = write(constraint, opening(seed, texts), 400, eos)
    check(schema, text_of(embedded, tokens))


@pytest.mark.parametrize("seed", range(8))
def test_a_text_ends_whole_however_few_tokens_it_may_have(
    grammars: Grammars, tokenizer: Any, seed: int
) -> None:
    schema = random_schema(1_000 + seed)
    make = grammars.schema(schema)
    whole = list[int]()
    for most in range(1, 400, 23):
        tokens = write(make(), weighted(most), most, EOS)
        try:
            check(schema, text_of(tokenizer, tokens))
        except (ValueError, jsonschema.ValidationError):
            assert len(tokens) == most
            assert not whole  # with fewer tokens it was possible
        else:
            whole.append(most)
    assert whole


def test_any_object_is_asked_for_without_a_schema(grammars: Grammars, tokenizer: Any) -> None:
    for seed in range(10):
        value = json.loads(written(grammars, tokenizer, None, seed, 60))
        assert isinstance(value, dict)


def test_texts_have_the_spaces_of_json_dumps_and_keep_the_order_of_the_schema(
    grammars: Grammars, tokenizer: Any
) -> None:
    text = written(grammars, tokenizer, PERSON, 4, 100)
    value = json.loads(text)
    assert list(value) == ["name", "age"]
    assert text.startswith('{"name": "')
    assert text == json.dumps(value, ensure_ascii=False)


def test_strings_and_numbers_go_on_while_there_is_room(grammars: Grammars, tokenizer: Any) -> None:
    lengths = {len(written(grammars, tokenizer, PERSON, seed, 120)) for seed in range(10)}
    assert max(lengths) > 30
    assert len(lengths) > 4


def test_a_text_that_may_go_on_may_also_end(grammars: Grammars, tokenizer: Any) -> None:
    constraint = grammars.schema({"type": "integer"})()
    assert not EOS & set(np.flatnonzero(allowed(constraint, 50)).tolist())
    constraint.accept(tokenizer.token_to_id("7"))
    assert set(np.flatnonzero(allowed(constraint, 49)).tolist()) >= EOS
    assert not constraint.finished
    constraint.accept(2)
    assert constraint.finished


def allowed(constraint: Any, remaining: int) -> np.ndarray:
    mask = constraint.allowed(remaining)
    assert mask is not None
    assert mask.shape == (ROWS,)
    return np.asarray(mask)


def test_rows_without_a_token_are_never_allowed(grammars: Grammars) -> None:
    constraint = grammars.schema(None)()
    for remaining in range(60, 0, -1):
        mask = allowed(constraint, remaining)
        assert not mask[320:].any()
        constraint.accept(int(np.flatnonzero(mask)[-1]))
        if constraint.finished:
            break
    assert constraint.finished


def test_a_vocabulary_with_fewer_rows_than_tokens_is_cut(tokenizer: Any) -> None:
    constraint = Grammars(tokenizer.to_str(), 300, EOS).schema(PERSON)()
    tokens = write(constraint, weighted(0), 200, EOS)
    assert max(tokens) < 300
    check(PERSON, text_of(tokenizer, tokens))


def test_end_tokens_beyond_the_tokenizer_are_left_out(tokenizer: Any) -> None:
    grammars = Grammars(tokenizer.to_str(), ROWS, frozenset({2, 322, 10**9}))
    constraint = grammars.schema({"const": 1})()
    tokens = write(constraint, weighted(0), 9, frozenset({2, 322}))
    assert text_of(tokenizer, tokens) == "1"


def test_replies_of_one_schema_know_nothing_of_each_other(
    grammars: Grammars, tokenizer: Any
) -> None:
    make = grammars.schema(PERSON)
    first, second = make(), make()
    beginning = np.flatnonzero(allowed(first, 100)).tolist()
    first.accept(beginning[0])
    assert np.flatnonzero(allowed(second, 100)).tolist() == beginning


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def references(count: int) -> dict[str, Any]:
    levels: dict[str, Any] = {f"n{i}": {"$ref": f"#/$defs/n{i - 1}"} for i in range(1, count)}
    return {"$ref": f"#/$defs/n{count - 1}", "$defs": {"n0": {"type": "string"}, **levels}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strin"}, "type"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"$ref": "#/$defs/missing"}, "missing"),
        ({"$ref": "https://example.com/other"}, "ref"),
        ({"type": "string", "pattern": "("}, "regex|pattern"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "minimum"),
        ({"type": "object", "minProperties": 3}, "minProperties"),
        ({"$ref": "#"}, "contains another"),
        (references(5_000), "refers to too much"),
        (nested(70), "deeper than 64"),
        ({"description": "x" * 300_000}, "bytes"),
        ({"const": float("nan")}, "not JSON"),
        ({"const": b"bytes"}, "not JSON"),
        ([], "not an object"),
    ],
)
def test_schemas_that_cannot_be_enforced_are_refused(
    grammars: Grammars, schema: Any, reason: str
) -> None:
    with pytest.raises(GrammarInvalid, match=reason) as refusal:
        grammars.schema(schema)
    assert refusal.value.code in ("invalid_schema", "form_endless", "form_impossible")
    assert refusal.value.status == 400
    assert len(str(refusal.value)) < 400


def test_deep_references_are_compiled_on_a_stack_that_holds_them(
    grammars: Grammars, tokenizer: Any
) -> None:
    levels: dict[str, Any] = {"n0": {"type": "integer"}}
    for level in range(1, 400):
        below = {"$ref": f"#/$defs/n{level - 1}"}
        levels[f"n{level}"] = {"type": "object", "properties": {"x": below}, "required": ["x"]}
    constraint = grammars.schema({"$ref": "#/$defs/n399", "$defs": levels})()
    for token in tokenizer.encode('{"x": {').ids:
        assert allowed(constraint, 5_000)[token]
        constraint.accept(token)


def test_objects_may_have_thousands_of_properties(grammars: Grammars, tokenizer: Any) -> None:
    properties = {f"p{i}": {"type": "boolean"} for i in range(2_500)}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    check(schema, written(grammars, tokenizer, schema, 3, 40))


def test_references_that_multiply_are_refused_or_compiled_within_bounds(
    grammars: Grammars,
) -> None:
    levels: dict[str, Any] = {"n0": {"type": "string"}}
    for level in range(1, 30):
        below = {"$ref": f"#/$defs/n{level - 1}"}
        levels[f"n{level}"] = {"type": "array", "prefixItems": [below, below], "minItems": 2}
    constraint = grammars.schema({"$ref": "#/$defs/n29", "$defs": levels})()
    # Its shortest text has 2^29 strings: it runs into the limit.
    assert len(write(constraint, weighted(0), 40, EOS)) == 40


def test_options_of_the_library_in_a_schema_are_not_followed(
    grammars: Grammars, tokenizer: Any
) -> None:
    schema = PERSON | {"x-guidance": {"whitespace_flexible": True, "lenient": True}}
    text = written(grammars, tokenizer, schema, 1, 100)
    assert text.startswith('{"name": "')
    with pytest.raises(GrammarInvalid, match="uniqueItems"):
        grammars.schema({"type": "array", "uniqueItems": True, "x-guidance": {"lenient": True}})


def test_a_tokenizer_that_the_library_cannot_read_is_reported() -> None:
    with pytest.raises(GrammarInvalid, match="tokenizer"):
        Grammars("{}", ROWS, EOS).schema(None)


def replies(path: Path, folder: Path, schemas: list[Any], most: int) -> list[list[Event]]:
    """Sampled by the tiny checkpoint itself, through the decode loop beside the engine."""
    tokenizer = ModelTokenizer.open(path / "tokenizer.json", 1000)
    grammars = Grammars((path / "tokenizer.json").read_text(), ROWS, EOS)
    head = exact_head(path, folder)

    def work(backend: EngineBackend, _: TinySessions) -> list[list[Event]]:
        return list(all_replies(backend))

    def all_replies(backend: EngineBackend) -> Iterator[list[Event]]:
        for seed, schema in enumerate(schemas):
            sequence = Sequence(backend, lambda ids: embed(path, ids))
            sampler = Sampler(head, SamplingParams(temperature=1.0, seed=seed))
            constraint = grammars.schema(schema)()
            limits = Limits(EOS, most)
            prompt = list(range(11, 31))
            yield list(decode(sequence, sampler, tokenizer, prompt, limits, constraint=constraint))

    result: list[list[Event]] = beside(path, work)
    return result


def test_a_random_model_writes_valid_texts_through_the_decode_loop(
    tiny_path: Path, tmp_path: Path
) -> None:
    schemas = [PERSON, *(random_schema(seed) for seed in range(500, 505))]
    for schema, events in zip(schemas, replies(tiny_path, tmp_path, schemas, 200), strict=True):
        check(schema, "".join(event.text for event in events))
        last = events[-1]
        assert isinstance(last, Finished)
        assert last.reason in ("stop", "length")
        assert sum(isinstance(event, TokenEvent) for event in events) <= 200
