"""What is forced has masks of one bit at every token, and leaves a reply as it is without."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from split_client.grammar.compiling import FormConstraint, compiled_form
from split_client.grammar.form import Choice, Form, Gbnf, JsonObject, JsonSchema, Lark, Regex
from split_client.grammar.vocabulary import Vocabulary
from tests.checkpoints import tiny_tokenizer
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.grammar.schemas import random_schema, weighted

RECORDS = {
    "type": "array",
    "minItems": 2,
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "größe": {"type": "integer"}},
        "required": ["name", "größe"],
        "additionalProperties": False,
    },
}
FORMS: list[Form] = [
    JsonSchema.of(RECORDS),
    JsonObject(),
    Regex("(the same words|the same sentence), [0-9]{3}( and on)?"),
    Regex("[a-z]{3,40}!"),
    Choice(("approved", "approved with changes", "rejected", "réjecté")),
    Lark('start: "call(" arg ("," " " arg)* ")"\narg: NAME "=" NAME\nNAME: /[a-z]+/\n'),
    Lark('start: item+\nitem: "- " /[^\\n]{1,30}/ "\\n"\n'),
    Gbnf('root ::= "move " ("north" | "south") " by " [0-9]+ " steps"'),
    *(JsonSchema.of(random_schema(seed)) for seed in range(0, 60, 1 if EXHAUSTIVE else 6)),
]
IDS = [f"{at}-{type(form).__name__}" for at, form in enumerate(FORMS)]


@pytest.fixture(scope="module", params=["bytes", "trained"])
def vocabulary(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Vocabulary:
    if request.param == "bytes":
        tokenizer = tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))
        return Vocabulary(tokenizer.to_str(), 325, frozenset({0, 2}))
    text = (files("split_server") / "embedded" / "tokenizer.json").read_text("utf-8")
    return Vocabulary(text, 2048, frozenset({2047}))


Choose = Callable[[np.ndarray], int]


def plain(constraint: FormConstraint, choose: Choose, most: int, eos: set[int]) -> list[int]:
    """Every token chosen; where there is one candidate, without asking for a choice."""
    tokens = list[int]()
    while len(tokens) < most and not constraint.finished:
        allowed = np.flatnonzero(constraint.allowed(most - len(tokens)))
        token = int(allowed[0]) if len(allowed) == 1 else choose(allowed)
        constraint.accept(token)
        tokens.append(token)
        if token in eos:
            break
    return tokens


def with_forced(
    make: Callable[[], FormConstraint], choose: Choose, most: int, eos: set[int]
) -> tuple[list[int], int]:
    """What is forced is taken as it is, after a second constraint has looked at its masks."""
    constraint, witness = make(), make()
    tokens, forced = list[int](), 0
    while len(tokens) < most and not constraint.finished:
        ahead = constraint.forced(most - len(tokens))
        assert len(ahead) <= most - len(tokens)
        assert constraint.permitted(ahead, most - len(tokens)) == len(ahead)
        for token in ahead:
            assert np.flatnonzero(witness.allowed(most - len(tokens))).tolist() == [token]
            constraint.accept(token)
            witness.accept(token)
            tokens.append(token)
        forced += len(ahead)
        if ahead:
            continue
        allowed = np.flatnonzero(constraint.allowed(most - len(tokens)))
        assert allowed.tolist() == np.flatnonzero(witness.allowed(most - len(tokens))).tolist()
        token = int(allowed[0]) if len(allowed) == 1 else choose(allowed)
        constraint.accept(token)
        witness.accept(token)
        tokens.append(token)
        if token in eos:
            break
    return tokens, forced


@pytest.mark.parametrize("form", FORMS, ids=IDS)
def test_forced_tokens_are_those_of_masks_with_one_bit_and_change_no_reply(
    vocabulary: Vocabulary, form: Form
) -> None:
    make = compiled_form(vocabulary, form)
    eos = set(vocabulary.eos.tolist())
    for most in (7, 40, 160):
        expected = plain(make(), weighted(most), most, eos)
        tokens, _ = with_forced(make, weighted(most), most, eos)
        assert tokens == expected


def test_names_and_punctuation_of_a_schema_are_forced(vocabulary: Vocabulary) -> None:
    make = compiled_form(vocabulary, JsonSchema.of(RECORDS))
    eos = set(vocabulary.eos.tolist())
    tokens, forced = with_forced(make, weighted(1), 120, eos)
    assert forced > len(tokens) / 4
    assert vocabulary.text(make().forced(100)).startswith(b'[{"name":')


@pytest.mark.parametrize("form", FORMS, ids=IDS)
def test_a_draft_is_permitted_as_far_as_the_masks_allow_it(
    vocabulary: Vocabulary, form: Form
) -> None:
    make = compiled_form(vocabulary, form)
    reply = plain(make(), weighted(5), 60, set(vocabulary.eos.tolist()))
    for start in range(0, len(reply), 7):
        constraint, walker = make(), make()
        for at, token in enumerate(reply[:start]):
            constraint.accept(token)
            walker.accept(token)
            assert at < 60
        draft = [*reply[start : start + 5], 5, 7]
        count = constraint.permitted(draft, 5_000)
        for token in draft[:count]:
            assert walker.allowed(5_000)[token]
            walker.accept(token)
        if count < len(draft) and not walker.finished:
            assert not walker.allowed(5_000)[draft[count]]
        # It has not moved.
        assert constraint.permitted(draft, 5_000) == count
        assert constraint.permitted(draft, 2) == min(count, 2)


def test_a_form_without_an_end_forces_no_more_tokens_than_are_left(vocabulary: Vocabulary) -> None:
    make = compiled_form(vocabulary, Regex("(ab){2000}"))
    assert 0 < len(make().forced(12)) <= 12
    assert make().forced(0) == []
