"""Once a call has begun its grammar holds, and what it forces needs no choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from split_client.generation.constraint import Constraint
from split_client.grammar.errors import GrammarInvalid, GrammarMissing
from split_client.grammar.form import JsonSchema
from split_client.model.tokenizer import ModelTokenizer
from split_client.tools.constraint import CallConstraint
from split_client.tools.families import FAMILIES, HERMES, LLAMA, CallForm
from split_client.tools.grammars import call_tokens, calling
from split_client.tools.tool import Tool
from tests.split_client.tools.dialogues import forms_of, spelled, tokenizer_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"account": {"enum": ["ann", "bob"]}},
    "required": ["account"],
    "additionalProperties": False,
}
TOOL = Tool("balance", "", SCHEMA)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelTokenizer]:
    made = tokenizer_of(tmp_path_factory.mktemp("tokenizer"))
    yield made
    made.close()


def held(
    tokenizer: ModelTokenizer, form: CallForm, *tools: Tool, required: bool = False
) -> CallConstraint:
    forms = forms_of(tokenizer)
    tokens = call_tokens(tokenizer, 1 + max(tokenizer.control) + 4, form)
    return calling(
        tokens,
        tools or (TOOL,),
        form,
        lambda schema: forms.constraint(JsonSchema.of(schema)),
        GrammarInvalid,
        required=required,
    )


def write(constraint: Constraint, tokenizer: ModelTokenizer, text: str) -> None:
    for token in tokenizer.encode(text):
        mask = constraint.allowed(500)
        assert mask is None or mask[token]
        constraint.accept(token)


def follow(constraint: Constraint, tokenizer: ModelTokenizer) -> tuple[str, int]:
    """The text of a reply that takes the first token that is allowed, and how many were choices."""
    ids: list[int] = []
    choices = 0
    while not constraint.finished and len(ids) < 200:
        forced = constraint.forced(200 - len(ids))
        for token in forced:
            mask = constraint.allowed(200 - len(ids))
            assert mask is not None
            assert mask.nonzero()[0].tolist() == [token]
            ids.append(token)
            constraint.accept(token)
        if forced:
            continue
        mask = constraint.allowed(200 - len(ids))
        if mask is None:
            break
        choices += 1
        ids.append(int(mask.nonzero()[0][0]))
        constraint.accept(ids[-1])
    return tokenizer.decode(ids, skip_special_tokens=False), choices


@pytest.mark.parametrize("form", FAMILIES, ids=lambda form: form.name)
def test_of_a_required_call_only_the_arguments_are_chosen(
    form: CallForm, tokenizer: ModelTokenizer
) -> None:
    constraint = held(tokenizer, form, required=True)
    text, choices = follow(constraint, tokenizer)
    assert constraint.finished
    assert "".join(text.split()) in {
        "".join(spelled(form, "balance", {"account": who}).split()) for who in ("ann", "bob")
    }
    # A list may go on, and the name of the account may be spelt in more than one way.
    assert choices <= 6


def test_text_is_free_until_the_mark_is_whole(tokenizer: ModelTokenizer) -> None:
    constraint = held(tokenizer, HERMES)
    for text in ("Let me see. ", "1 < 2 <tool", "<tool_cal"):
        write(constraint, tokenizer, text)
        assert constraint.allowed(100) is None
        assert constraint.forced(100) == []
    write(constraint, tokenizer, " <tool_call>")
    text, _ = follow(constraint, tokenizer)
    assert text.endswith("</tool_call>")
    assert constraint.allowed(100) is None
    assert not constraint.finished


def test_a_bare_call_is_held_from_its_name_on(tokenizer: ModelTokenizer) -> None:
    constraint = held(tokenizer, LLAMA)
    write(constraint, tokenizer, '{"name": "')
    assert constraint.allowed(100) is not None
    other = held(tokenizer, LLAMA)
    write(other, tokenizer, "The answer is {")
    assert other.allowed(100) is None


def test_drafts_go_as_far_as_the_mark_or_the_grammar(tokenizer: ModelTokenizer) -> None:
    constraint = held(tokenizer, HERMES)
    begin = tokenizer.encode("So: <tool_call>")
    rest = tokenizer.encode('\n{"name": "rob"')
    assert constraint.permitted([*begin, *rest], 100) == len(begin)
    write(constraint, tokenizer, "<tool_call>")
    assert constraint.permitted(rest, 100) < len(rest)
    assert constraint.forced(1) == constraint.forced(100)[:1]


def test_a_schema_that_cannot_be_held_leaves_the_arguments_free(tokenizer: ModelTokenizer) -> None:
    odd = Tool("odd", "", {"type": "object", "not": {"required": ["x"]}})
    constraint = held(tokenizer, HERMES, odd, TOOL)
    write(constraint, tokenizer, "<tool_call>")
    write(constraint, tokenizer, "\n")
    assert constraint.allowed(100) is not None
    for token in tokenizer.encode('{"name": "odd"'):
        mask = constraint.allowed(100)
        assert mask is not None
        if mask[token]:
            constraint.accept(token)


def test_without_the_library_calls_are_free_and_none_can_be_required(
    tokenizer: ModelTokenizer,
) -> None:
    def missing(_: dict[str, Any]) -> Any:
        raise GrammarMissing

    tokens = call_tokens(tokenizer, 5000, HERMES)
    constraint = calling(tokens, [TOOL], HERMES, missing, GrammarInvalid, required=False)
    write(constraint, tokenizer, "<tool_call>\n{'x")
    assert constraint.allowed(100) is None
    with pytest.raises(GrammarMissing):
        calling(tokens, [TOOL], HERMES, missing, GrammarInvalid, required=True)
