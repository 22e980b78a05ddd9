"""Functions as tools, and what is refused as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from split_client.tools.definitions import MAX_BYTES, load_tools, tools_in
from split_client.tools.errors import ToolChoiceInvalid, ToolsInvalid
from split_client.tools.tool import MAX_TOOLS, Tool, checked_choice, checked_tools


def pay(
    to: str, amount: float, kind: Literal["now", "later"] = "now", notes: list[str] | None = None
) -> str:
    """Pays somebody.

    Args:
        to: who gets it
        amount (float): how much, in euros

    Returns:
        a receipt
    """
    return f"{amount} to {to}, {kind}, {notes}"


def test_a_function_says_what_its_tool_is() -> None:
    tool = Tool.of(pay)
    assert (tool.name, tool.description) == ("pay", "Pays somebody.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "who gets it"},
            "amount": {"type": "number", "description": "how much, in euros"},
            "kind": {"enum": ["now", "later"]},
            "notes": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["to", "amount"],
        "additionalProperties": False,
    }
    assert tool.run is not None
    assert tool.run({"to": "Ann", "amount": 2}) == "2 to Ann, now, None"


def bare(to) -> str:  # type: ignore[no-untyped-def]
    return str(to)


def packed(*to: str) -> str:
    return str(to)


async def awaited(to: str) -> str:
    return to


def odd(to: bytes) -> str:
    return str(to)


@pytest.mark.parametrize("function", [bare, packed, odd, awaited, lambda x: x])
def test_a_function_whose_parameters_json_cannot_hold_is_refused(function: Any) -> None:
    with pytest.raises(ToolsInvalid):
        Tool.of(function)


DEEP: dict[str, Any] = {"type": "object"}
for _ in range(70):
    DEEP = {"type": "object", "properties": {"x": DEEP}}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("", {}),
        ("a b", {}),
        ("x" * 65, {}),
        ("ok", {"type": "string"}),
        ("ok", DEEP),
        ("ok", {"description": "x" * 300_000}),
        ("ok", {"default": float("nan")}),
        ("ok", {"properties": {"\ud800": {}}}),
        ("ok", []),
    ],
    ids=range(9),
)
def test_what_is_no_tool_is_refused(name: str, parameters: Any) -> None:
    with pytest.raises(ToolsInvalid):
        Tool(name, "", parameters)


def test_definitions_are_told_apart_by_their_digest() -> None:
    one, other = Tool("a", "x", {}), Tool("a", "y", {})
    assert one.digest() == Tool("a", "x", {}).digest()
    assert one.digest() != other.digest()


def test_descriptions_are_cut_and_have_no_escape_sequences() -> None:
    tool = Tool("a", "\x1b[31mred\x07" + "x" * 10_000, {})
    assert tool.description.startswith("redxxx")
    assert len(tool.description) == 4096


def test_names_are_different_and_not_too_many() -> None:
    with pytest.raises(ToolsInvalid, match="two tools"):
        checked_tools([Tool("a", "", {}), Tool("a", "", {})])
    with pytest.raises(ToolsInvalid, match="more than"):
        checked_tools([Tool(f"t{n}", "", {}) for n in range(MAX_TOOLS + 1)])


def test_a_choice_is_one_of_the_words_or_a_tool() -> None:
    tools = [Tool("a", "", {})]
    for choice in ("auto", "required", "none", "a"):
        assert checked_choice(choice, tools) == choice
    for choice, known in (("b", tools), ("", tools), ("required", [])):
        with pytest.raises(ToolChoiceInvalid):
            checked_choice(choice, known)


GIVEN = {"type": "function", "function": {"name": "a", "description": "d", "parameters": {}}}


def test_a_file_is_a_list_or_has_one(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    for document in ([GIVEN], {"tools": [GIVEN]}, [GIVEN["function"]]):
        path.write_text(json.dumps(document))
        [tool] = load_tools(path)
        assert (tool.name, tool.description, tool.run) == ("a", "d", None)


@pytest.mark.parametrize(
    "document",
    [
        *(
            None,
            3,
            "x",
            {},
            [],
            {"tools": []},
            [3],
            [{}],
            [{"type": "x", "function": {"name": "a"}}],
        ),
        [{"function": {"name": 3}}],
        [{"function": {"name": "a", "description": 3}}],
        [{"function": {"name": "a", "parameters": "x"}}],
        [GIVEN, GIVEN],
        [GIVEN] * 200,
    ],
    ids=range(14),
)
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(ToolsInvalid):
        tools_in(document, "here")


def test_a_file_that_is_no_json_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    for data in (b"{", b"\xff", b"[" * 100_000, b" " * (MAX_BYTES + 1)):
        path.write_bytes(data)
        with pytest.raises(ToolsInvalid):
            load_tools(path)
    with pytest.raises(ToolsInvalid):
        load_tools(tmp_path)
    with pytest.raises(ToolsInvalid, match="No such file"):
        load_tools(tmp_path / "none")
