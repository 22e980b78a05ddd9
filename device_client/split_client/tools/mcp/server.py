"""The tools of one MCP server."""

from __future__ import annotations

import re
from typing import Any, Final

from split_client.harmless import one_line
from split_client.tools.errors import McpError, ToolsInvalid
from split_client.tools.mcp.http import HttpChannel
from split_client.tools.mcp.messages import Channel, Message, notification, request, result_of
from split_client.tools.running import failed
from split_client.tools.tool import MAX_TOOLS, Tool

VERSIONS: Final = ("2025-06-18", "2025-03-26", "2024-11-05")
_START_SECONDS: Final = 30.0
_MOST_PAGES: Final = 64
_NO_LETTER: Final = re.compile(r"[^A-Za-z0-9_-]")


class McpServer:
    """``name``: that of the server here, before the names of its tools; ``seconds``: for a call."""

    def __init__(self, name: str, channel: Channel, seconds: float) -> None:
        self.name = name
        self._channel, self._seconds = channel, seconds
        self._number = 0

    def tools(self) -> tuple[Tool, ...]:
        """Begin, and list the tools; each call is one of the server's. Raises McpError."""
        self._initialize()
        made = tuple(self._tool(each) for each in self._listed())
        names = [tool.name for tool in made]
        if len(set(names)) < len(names):
            raise McpError(self.name, "two of its tools have the same name")
        return made

    def close(self) -> None:
        """Leave the server."""
        self._channel.close()

    def _initialize(self) -> None:
        client = {"name": "gatelink", "version": "1"}
        asked = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": client}
        answer = self._ask("initialize", asked, _START_SECONDS)
        version = answer.get("protocolVersion")
        if version not in VERSIONS:
            spoken = one_line(str(version), 40)
            known = ", ".join(VERSIONS)
            raise McpError(self.name, f"it speaks version {spoken}; this client {known}")
        if isinstance(self._channel, HttpChannel):
            self._channel.speak(str(version))
        self._channel.tell(notification("notifications/initialized"))

    def _listed(self) -> list[Message]:
        found: list[Message] = []
        cursor: object = None
        for _ in range(_MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = self._ask("tools/list", params, _START_SECONDS)
            tools = page.get("tools")
            if not isinstance(tools, list) or not all(isinstance(each, dict) for each in tools):
                raise McpError(self.name, "its list of tools is none")
            found += tools
            if len(found) > MAX_TOOLS:
                reason = f"it lists more than {MAX_TOOLS} tools, which no prompt has room for"
                raise McpError(self.name, reason)
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return found
        raise McpError(self.name, "its list of tools has no end")

    def _tool(self, given: Message) -> Tool:
        name, schema = given.get("name"), given.get("inputSchema")
        if not isinstance(name, str) or not name:
            raise McpError(self.name, "one of its tools has no name")
        description = given.get("description")
        try:
            return Tool(
                f"{self.name}__{_NO_LETTER.sub('_', name)}"[:64],
                description if isinstance(description, str) else "",
                schema if isinstance(schema, dict) else {"type": "object"},
                lambda arguments: self._call(name, arguments),
            )
        except ToolsInvalid as error:
            raise McpError(self.name, str(error)) from error

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        asked = {"name": name, "arguments": arguments}
        answer = self._ask("tools/call", asked, self._seconds)
        parts = answer.get("content")
        texts = [_text(part) for part in parts] if isinstance(parts, list) else []
        text = "\n".join(texts)
        return failed(text or "it failed") if answer.get("isError") is True else text

    def _ask(self, method: str, params: Message, seconds: float) -> Message:
        self._number += 1
        message = request(self._number, method, params)
        return result_of(self.name, self._channel.ask(message, seconds))


def _text(part: object) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": str(kind)}:
            return f"[{kind} left out: this model reads text]"
    return "[a part without a type left out]"
