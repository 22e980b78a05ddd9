"""Tools of a chat in the terminal, without a server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from split_client.chat.message import Message
from split_client.terminal.commands.chats import show_last
from split_client.terminal.tool_arguments import ToolRequest
from split_client.terminal.tools.chat_tools import bound_tools
from split_client.tools.call import ToolCall
from split_client.tools.errors import McpError, ToolChoiceInvalid, ToolsInvalid
from tests.split_client.terminal.consoles import RecordingScreen
from tests.split_client.tools.mcp.servers import program

DEFINED = [{"type": "function", "function": {"name": name}} for name in ("pay", "rob")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(DEFINED))
    return path


def bind(file: Path | None, *commands: str, **other: Any) -> tuple[list[str], RecordingScreen]:
    screen = RecordingScreen()
    with bound_tools(ToolRequest(file, commands=commands, **other), screen) as (tools, runs):
        assert runs.keys() == {tool.name for tool in tools}
        return [tool.name for tool in tools], screen


def test_a_tool_without_a_command_is_left_out(file: Path) -> None:
    names, screen = bind(file, f"pay={sys.executable} -V")
    assert names == ["pay"]
    assert "left out, as no --tool runs them: rob" in screen.noted


@pytest.mark.parametrize(
    "commands",
    [
        ("pay",),
        ("nobody=true",),
        ("pay=true", "pay=true"),
        ("pay=",),
        ("pay=no-such-program-at-all",),
        ("pay='",),
    ],
    ids=range(6),
)
def test_a_binding_that_is_none_is_refused(file: Path, commands: tuple[str, ...]) -> None:
    with pytest.raises(ToolsInvalid):
        bind(file, *commands)


def test_a_command_needs_a_definition_and_a_choice_a_tool(file: Path) -> None:
    with pytest.raises(ToolsInvalid):
        bind(None, "pay=true")
    with pytest.raises(ToolChoiceInvalid):
        bind(file, "pay=true", choice="rob")


def test_servers_add_their_tools_and_a_broken_one_ends_the_start(tmp_path: Path) -> None:
    good = f"calc={' '.join(program(tmp_path))}"
    names, screen = bind(None, servers=(good,))
    assert names == ["calc__add", "calc__loud"]
    assert "MCP server calc: 2 tools" in screen.noted
    with pytest.raises(ToolsInvalid, match="same name"):
        bind(None, servers=(good, good))
    with pytest.raises(McpError, match="more than 128"):
        bind(None, servers=(f"{good} many",))


def test_a_loaded_chat_shows_its_calls_and_results_harmlessly() -> None:
    screen = RecordingScreen()
    call = ToolCall("1", "pay\x1b[2J", '{"to": "\x1b]0;x\x07Ann"}')
    messages = (
        Message("user", "Pay."),
        Message("assistant", "", (call,)),
        Message("tool", "\x1b[31mdone", (), "1", "pay"),
        Message("assistant", "Paid."),
    )
    show_last(messages, screen)
    assert "called pay: " in screen.noted
    assert "result of pay: done" in screen.noted
    assert "\x1b" not in screen.noted
    assert "Paid." in screen.shown
