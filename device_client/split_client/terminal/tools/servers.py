"""The tools of the MCP servers that a chat is to have."""

from __future__ import annotations

from contextlib import ExitStack

from split_client.api import Tool
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.tool_arguments import ToolRequest
from split_client.tools.errors import ToolsInvalid
from split_client.tools.mcp.config import MOST_SERVERS, Wanted, servers_in, typed_server
from split_client.tools.mcp.server import McpServer


def server_tools(
    request: ToolRequest, opened: ExitStack, screen: Screen
) -> tuple[list[Tool], dict[str, str]]:
    """The tools of all servers, and what runs each in words; ``opened`` closes the servers.

    Raises ToolsInvalid, McpError.
    """
    tools: list[Tool] = []
    runs: dict[str, str] = {}
    for wanted in _wanted(request):
        server = McpServer(wanted.name, wanted.channel(), request.seconds)
        opened.callback(server.close)
        found = server.tools()
        tools += found
        runs |= {tool.name: f"at the MCP server {wanted.name} ({wanted.told})" for tool in found}
        screen.note(f"MCP server {wanted.name}: {counted(len(found), 'tool')}")
    return tools, runs


def _wanted(request: ToolRequest) -> list[Wanted]:
    wanted = [typed_server(typed) for typed in request.servers]
    for path in request.server_files:
        wanted += servers_in(path)
    names = [each.name for each in wanted]
    if len(set(names)) < len(names):
        raise ToolsInvalid("--mcp", "two servers have the same name")
    if len(wanted) > MOST_SERVERS:
        raise ToolsInvalid("--mcp", f"there are more than {MOST_SERVERS} servers")
    return wanted
