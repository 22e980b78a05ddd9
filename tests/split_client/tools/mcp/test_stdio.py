"""MCP servers that are programs, and those that fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from split_client.tools.call import ToolCall
from split_client.tools.errors import McpError
from split_client.tools.mcp.server import McpServer
from split_client.tools.mcp.stdio import StdioChannel
from split_client.tools.running import run_call
from split_client.tools.tool import Tool
from tests.split_client.tools.mcp.servers import program


@contextmanager
def server(folder: Path, fault: str = "") -> Iterator[McpServer]:
    made = McpServer("calc", StdioChannel("calc", program(folder, fault), {}), 20.0)
    try:
        yield made
    finally:
        made.close()


def ran(tools: tuple[Tool, ...], name: str, arguments: str) -> str:
    return run_call(ToolCall("1", name, arguments), {tool.name: tool for tool in tools})


def test_tools_are_listed_under_the_server_s_name_and_called(tmp_path: Path) -> None:
    with server(tmp_path) as calc:
        tools = calc.tools()
        assert [tool.name for tool in tools] == ["calc__add", "calc__loud"]
        assert ran(tools, "calc__add", '{"a": 41}') == "42"
        assert ran(tools, "calc__add", '{"a": "x"}').startswith("error: arguments.a")
        assert ran(tools, "calc__add", '{"a": -1}') == "error: MCP server calc: below 0"
        told = ran(tools, "calc__loud", '{"a": 1}')
        assert told == "error: no [image left out: this model reads text]"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("dies", "it ended"),
        ("garbage", "not JSON"),
        ("endless", "more than"),
        ("old", "version 1999-01-01"),
        ("many", "more than 128 tools"),
        ("loop", "has no end"),
        ("deep", "nested deeper"),
    ],
)
def test_one_that_is_broken_is_refused_in_one_line(tmp_path: Path, fault: str, reason: str) -> None:
    with server(tmp_path, fault) as calc, pytest.raises(McpError, match=reason) as raised:
        calc.tools()
    assert "\n" not in str(raised.value)


def test_one_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    times = iter(range(0, 10_000, 40))
    channel = StdioChannel("calc", program(tmp_path, "hangs"), {}, clock=lambda: next(times))
    calc = McpServer("calc", channel, 20.0)
    with pytest.raises(McpError, match="no answer in time"):
        calc.tools()
    calc.close()


def test_one_that_dies_in_a_call_is_told_to_the_model(tmp_path: Path) -> None:
    with server(tmp_path, "later") as calc:
        tools = calc.tools()
        for _ in range(2):
            assert ran(tools, "calc__add", '{"a": 1}') == "error: MCP server calc: it ended"


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(McpError, match="cannot be started"):
        StdioChannel("calc", ["/nowhere/at/all"], {})
