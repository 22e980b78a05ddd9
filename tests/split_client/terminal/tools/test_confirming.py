"""What a person sees of a call, and which keys let it run."""

from __future__ import annotations

import json

import pytest

from split_client.terminal.tools.confirming import Confirmation, shown_arguments
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool
from tests.split_client.terminal.consoles import RecordingScreen

TOOL = Tool("pay", "", {})


class Pressed:
    """Keys that are pressed one after the other; then nobody is there."""

    def __init__(self, *keys: str) -> None:
        self._keys = list(keys)
        self.dropped = 0

    def drop(self) -> None:
        self.dropped += 1

    def press(self) -> str | None:
        return self._keys.pop(0) if self._keys else None


def call(**arguments: object) -> ToolCall:
    return ToolCall("1", "pay", json.dumps(arguments))


@pytest.mark.parametrize(
    ("keys", "allowed"),
    [
        ((), False),
        (("y",), True),
        (("n", "y"), False),
        (("a",), True),
        (("yes", "n"), False),
        (("\x1b[A", "\x1ba", "A", "Y", "", "y"), True),
        (("\r",), False),
    ],
    ids=range(7),
)
def test_a_key_alone_is_an_answer(keys: tuple[str, ...], allowed: bool) -> None:
    pressed = Pressed(*keys)
    assert Confirmation(RecordingScreen(), {"pay": "x"}, pressed).allow(call(), TOOL) is allowed
    assert pressed.dropped >= 1


def test_always_ends_with_the_chat() -> None:
    confirmation = Confirmation(RecordingScreen(), {"pay": "x"}, Pressed("a"))
    assert confirmation.allow(call(), TOOL)
    confirmation.forget()
    assert not confirmation.allow(call(), TOOL)


def test_always_holds_for_one_definition_and_command_alone() -> None:
    runs = {"pay": "x", "rob": "x"}
    confirmation = Confirmation(RecordingScreen(), runs, Pressed("a"))
    assert confirmation.allow(call(), TOOL)
    assert confirmation.allow(call(to="anybody"), TOOL)
    assert not confirmation.allow(call(), Tool("pay", "another", {}))
    assert not confirmation.allow(call(), Tool("rob", "", {}))
    runs["pay"] = "y"
    assert not confirmation.allow(call(), TOOL)


def test_all_arguments_are_shown_with_escapes() -> None:
    screen = RecordingScreen()
    hidden = "\x1b[2J\u202eevil\u200b\x07Köln"
    Confirmation(screen, {"pay": "a b"}, Pressed()).allow(call(to=hidden, n="x" * 9000), TOOL)
    assert "\x1b" not in screen.noted
    assert "\u202e" not in screen.noted
    assert "\\u001b[2J\\u202eevil\\u200b\\u0007Köln" in screen.noted
    assert "x" * 9000 in screen.noted
    assert "which runs a b" in screen.noted


def test_nested_arguments_are_shown_whole() -> None:
    assert json.loads(shown_arguments(call(a=[1, {"b": None}]))) == {"a": [1, {"b": None}]}
