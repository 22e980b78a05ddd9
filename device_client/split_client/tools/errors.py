"""Errors about tools, a branch of the client's tree::

ToolError
├── ToolsInvalid          definitions, a function or a binding that is no tool
├── ToolChoiceInvalid     a choice that is none, or names no tool
├── ToolResultInvalid     a result for no call, or a call without one
├── GrammarMissing        a call that is to be forced needs a library that is not here
└── McpError              an MCP server that fails, in words of what it did
"""

from __future__ import annotations

from split_client.errors import ClientError


class ToolError(ClientError):
    """Base of the branch."""

    code = "tool_error"


class ToolsInvalid(ToolError):
    code = "tools_invalid"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")


class ToolChoiceInvalid(ToolError):
    code = "tool_choice_invalid"

    def __init__(self, choice: str) -> None:
        super().__init__(
            f"the tool choice {choice[:64]!r} is none of auto, required, none and the names of "
            "the tools"
        )


class ToolResultInvalid(ToolError):
    code = "tool_result_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


class McpError(ToolError):
    """``server``: its name here."""

    code = "mcp_failed"

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(f"MCP server {server[:64]}: {reason}")
