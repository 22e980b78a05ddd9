"""The form of a family's calls is told by its template, and read as the family writes it."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from split_client.tools.call import ToolCall
from split_client.tools.families import (
    COHERE,
    COHERE_ACTION,
    FAMILIES,
    GRANITE,
    HERMES,
    LLAMA,
    MISTRAL,
    CallForm,
    call_form_of,
)
from split_client.tools.reading import FreeReader
from tests.split_client.tools.dialogues import TEMPLATES

NAMES = frozenset({"pay"})
ARGUMENTS = {"to": "Köln <1>", "n": [1, 2]}
CALL = json.dumps(ARGUMENTS, ensure_ascii=False)


@pytest.mark.parametrize("name", [*TEMPLATES])
def test_the_template_tells_the_form(name: str) -> None:
    form = call_form_of(TEMPLATES[name][0])
    assert (None if form is None else form.name) == (None if name == "none" else name)


def read(form: CallForm, pieces: list[str]) -> list[Any]:
    ids = count()
    reader = FreeReader(None, 8, lambda: f"call{next(ids)}", (form,), NAMES)
    found: list[Any] = []
    for piece in [piece for text in pieces for piece in reader.push(text)] + reader.finish():
        if isinstance(piece, ToolCall):
            found.append((piece.name, json.loads(piece.arguments)))
        elif found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
    return found


PAY = ("pay", ARGUMENTS)
OTHER = ("nobody", {})
WRITTEN = [
    (HERMES, f'<tool_call>\n{{"name": "pay", "arguments": {CALL}}}\n</tool_call>', [PAY]),
    (HERMES, '<tool_call>{"name": "nobody", "arguments": {}}</tool_call>', [OTHER]),
    (LLAMA, f'{{"name": "pay", "parameters": {CALL}}}', [PAY]),
    (LLAMA, f'<|python_tag|>{{"name": "pay", "parameters": {CALL}}}', [PAY]),
    (LLAMA, 'Yes. <|python_tag|>{"name": "nobody", "parameters": {}}', ["Yes. ", OTHER]),
    (LLAMA, '{"name": "nobody", "parameters": {}}', ['{"name": "nobody", "parameters": {}}']),
    (MISTRAL, f'[TOOL_CALLS] [{{"name": "pay", "arguments": {CALL}}}]', [PAY]),
    (MISTRAL, f'[TOOL_CALLS][{{"name": "pay", "arguments": {CALL}, "id": "abcdefghi"}}]', [PAY]),
    (MISTRAL, f"[TOOL_CALLS]pay[ARGS]{CALL}[TOOL_CALLS]pay[ARGS]{CALL}", [PAY, PAY]),
    (MISTRAL, f"[TOOL_CALLS]pay[CALL_ID]abc123def[ARGS]{CALL}", [PAY]),
    (GRANITE, f'<|tool_call|>[{{"name": "pay", "arguments": {CALL}}}]', [PAY]),
    (GRANITE, f'<tool_call>[{{"name": "pay", "arguments": {CALL}}}]', [PAY]),
    (
        COHERE,
        f'Action: ```json\n[\n    {{"tool_name": "pay", "parameters": {CALL}}},\n'
        f'    {{"tool_name": "pay", "parameters": {CALL}}}\n]```',
        [PAY, PAY],
    ),
    (
        COHERE_ACTION,
        f'<|START_ACTION|>[\n    {{"tool_call_id": "0", "tool_name": "pay", "parameters": {CALL}}}'
        "\n]<|END_ACTION|>",
        [PAY],
    ),
]


@pytest.mark.parametrize(("form", "text", "expected"), WRITTEN, ids=range(len(WRITTEN)))
def test_calls_of_each_family_are_read_in_pieces_of_any_size(
    form: CallForm, text: str, expected: list[Any]
) -> None:
    assert read(form, [text]) == expected
    assert read(form, list(text)) == expected


@pytest.mark.parametrize("form", FAMILIES, ids=lambda form: form.name)
@pytest.mark.parametrize("inside", ["", "nonsense", "[", '{"name": 3}', '{"name": "pay"}', "[]"])
def test_what_is_no_call_stays_text(form: CallForm, inside: str) -> None:
    text = f"{form.opens[0]}{inside}{form.close}"
    assert read(form, [text]) == [text]
    assert read(form, list(text)) == [text]


@pytest.mark.parametrize("form", FAMILIES, ids=lambda form: form.name)
@pytest.mark.parametrize("deep", [70, 900, 10_000])
def test_arguments_nested_ten_thousand_deep_stay_text(form: CallForm, deep: int) -> None:
    value = "[" * deep + "]" * deep
    call = f'{{"{form.keys[0]}": "pay", "{form.keys[1]}": {{"to": {value}}}}}'
    text = f"{form.opens[0]}{call}{form.close}"
    assert read(form, [text]) == [text]
