from __future__ import annotations

import json
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.tools.call import ToolCall
from split_client.tools.reading import CallReader, ForcedReader, FreeReader, PlainReader

NAMES = frozenset({"balance", "pay"})
HERMES = '<tool_call>\n{"name": "balance", "arguments": {"account": "Köln <1>"}}\n</tool_call>'
LLAMA = '{"name": "balance", "parameters": {"account": "Köln <1>"}}'
CALL = ("balance", {"account": "Köln <1>"})
Found = list[str | tuple[str, dict[str, Any]]]


def free(limit: int = 8) -> FreeReader:
    ids = count()
    return FreeReader(NAMES, limit, lambda: f"call_{next(ids)}")


def read(reader: CallReader, pieces: list[str]) -> Found:
    """Texts joined, calls as (name, arguments)."""
    out = [piece for text in pieces for piece in reader.push(text)] + reader.finish()
    found: Found = []
    for piece in out:
        if isinstance(piece, ToolCall):
            found.append((piece.name, json.loads(piece.arguments)))
        elif found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
    return found


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Just text.", ["Just text."]),
        ("", []),
        (HERMES, [CALL]),
        ("\n" + HERMES + "\n", [CALL]),
        ("Let me look. " + HERMES, ["Let me look. ", CALL]),
        (HERMES + "\n" + HERMES, [CALL, CALL]),
        (HERMES + "\nDone.", [CALL, "Done."]),
        (HERMES.removesuffix("</tool_call>"), [CALL]),
        (LLAMA, [CALL]),
        ("<|python_tag|>" + LLAMA, [CALL]),
        (LLAMA + "; " + LLAMA, [CALL, CALL]),
        ('{"type": "function", ' + LLAMA[1:], [CALL]),
        (" \n" + LLAMA + "\n", [CALL]),
        ("1 < 2 <tool", ["1 < 2 <tool"]),
        ("{", ["{"]),
        ('{"name": "Ann", "age": 3}', ['{"name": "Ann", "age": 3}']),
        ('{"answer": 3}', ['{"answer": 3}']),
        (LLAMA.replace("balance", "rob"), [LLAMA.replace("balance", "rob")]),
        (HERMES.replace("balance", "rob"), [HERMES.replace("balance", "rob")]),
        ("<tool_call>nonsense</tool_call>", ["<tool_call>nonsense</tool_call>"]),
        ("<tool_call>" + LLAMA[:20], ["<tool_call>" + LLAMA[:20]]),
        (LLAMA + " and more", [LLAMA + " and more"]),
        ("The call is " + LLAMA, ["The call is " + LLAMA]),
    ],
    ids=range(23),
)
def test_calls_are_told_from_text(reply: str, expected: Found) -> None:
    assert read(free(), [reply]) == expected
    assert read(free(), list(reply)) == expected


@given(st.data())
def test_where_the_reply_is_cut_into_pieces_changes_nothing(data: st.DataObject) -> None:
    parts = st.sampled_from([HERMES, LLAMA, "text ", "<tool_call>", "</tool_call>", "{", "<", "\n"])
    reply = "".join(data.draw(st.lists(parts, max_size=5)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    edges = [0, *cuts, len(reply)]
    pieces = [reply[low:high] for low, high in pairwise(edges)]
    whole, cut = read(free(), [reply]), read(free(), pieces)
    assert [found for found in whole if isinstance(found, tuple)] == [
        found for found in cut if isinstance(found, tuple)
    ]
    assert _text(whole).split() == _text(cut).split()


def _text(found: Found) -> str:
    return "".join(piece for piece in found if isinstance(piece, str))


def test_text_is_passed_on_as_it_comes() -> None:
    reader = free()
    assert reader.push("Hello") == ["Hello"]
    assert reader.push(" <tool") == [" "]
    assert reader.push("box>") == ["<toolbox>"]


def test_calls_beyond_the_limit_are_dropped() -> None:
    assert read(free(limit=1), [HERMES + HERMES]) == [CALL]
    assert read(free(limit=1), [LLAMA + ";" + LLAMA]) == [CALL]


def test_every_call_has_an_id_of_its_own() -> None:
    calls = [piece for piece in free().push(HERMES + HERMES) if isinstance(piece, ToolCall)]
    assert [call.id for call in calls] == ["call_0", "call_1"]


def test_a_forced_reply_is_one_call_and_text_when_it_was_cut_off() -> None:
    text = json.dumps({"name": "pay", "arguments": {"to": "Ann"}})
    assert read(ForcedReader(lambda: "call_1"), list(text)) == [("pay", {"to": "Ann"})]
    assert read(ForcedReader(lambda: "call_1"), [text[:-5]]) == [text[:-5]]


def test_without_tools_everything_is_text() -> None:
    assert read(PlainReader(), [HERMES, LLAMA]) == [HERMES + LLAMA]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_what_json_has_no_number_for_is_no_call(number: str) -> None:
    text = f'<tool_call>{{"name": "pay", "arguments": {{"n": {number}}}}}</tool_call>'
    assert read(free(), [text]) == [text]


def test_half_a_character_in_a_call_can_be_encoded() -> None:
    text = '<tool_call>{"name": "pay", "arguments": {"to\\ud800": "\\udfff."}}</tool_call>'
    assert read(free(), [text]) == [("pay", {"to\ufffd": "\ufffd."})]
