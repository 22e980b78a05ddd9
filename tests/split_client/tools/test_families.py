"""The form of a family's calls is told by its template, and read as the family writes it."""

from __future__ import annotations

import json
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from split_client.tools.reading import MAX_CALL, FreeReader
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


@pytest.mark.parametrize("form", FAMILIES, ids=lambda form: form.name)
def test_a_call_without_an_end_is_not_held_back_for_ever(form: CallForm) -> None:
    reader = FreeReader(None, 8, lambda: "call", (form,), NAMES)
    opening = '{"name": "pay", "parameters": {"to": "' if form.bare else form.opens[0]
    out = [piece for _ in range(70) for piece in reader.push(opening + "x" * 4096)]
    assert out
    assert len("".join(map(str, out))) > MAX_CALL


@given(st.data())
def test_where_a_reply_is_cut_into_pieces_changes_no_call(data: st.DataObject) -> None:
    form, text, _ = data.draw(st.sampled_from(WRITTEN))
    parts = st.sampled_from([text, "text ", *form.texts, "{", "[", "\n", "<", "`"])
    reply = "".join(data.draw(st.lists(parts, max_size=4)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    edges = [0, *cuts, len(reply)]
    pieces = [reply[low:high] for low, high in pairwise(edges)]
    whole, cut = read(form, [reply]), read(form, pieces)
    assert [each for each in whole if isinstance(each, tuple)] == [
        each for each in cut if isinstance(each, tuple)
    ]
    texts = ["".join(each for each in found if isinstance(each, str)) for found in (whole, cut)]
    assert texts[0].split() == texts[1].split()
