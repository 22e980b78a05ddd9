"""Flags of ``chat`` and ``generate`` about tools: what is asked this once, and never a setting.

A file of settings or a variable must not bind commands to what a model writes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """``commands``, ``results``, ``servers``: as they were typed, NAME=COMMAND and the like."""

    file: Path | None = None
    choice: str = "auto"
    commands: tuple[str, ...] = ()
    seconds: float = 60.0
    results: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    server_files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, options: argparse.Namespace) -> ToolRequest:
        return cls(
            options.tools,
            options.tool_choice,
            tuple(getattr(options, "tool", ())),
            getattr(options, "tool_seconds", 60.0),
            tuple(getattr(options, "tool_result", ())),
            tuple(getattr(options, "mcp", ())),
            tuple(getattr(options, "mcp_config", ())),
        )

    @property
    def wanted(self) -> bool:
        """Whether there is anything about tools."""
        return bool(
            self.file or self.commands or self.results or self.servers or self.server_files
        ) or (self.choice != "auto")


def add_chat_tools(parser: argparse.ArgumentParser) -> None:
    """Tools that the chat runs."""
    tools = _add_tools(parser)
    tools.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="the program that runs a tool of --tools: arguments as JSON on its standard input, no "
        "shell; every call is asked for",
    )
    tools.add_argument(
        "--tool-seconds",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="how long one call may take (default: 60)",
    )
    tools.add_argument(
        "--mcp",
        action="append",
        default=[],
        metavar="NAME=COMMAND|URL",
        help="the tools of an MCP server: a program that is started, or an https URL",
    )
    tools.add_argument(
        "--mcp-config",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="MCP servers of a file with 'mcpServers'",
    )


def add_generate_tools(parser: argparse.ArgumentParser) -> None:
    """Tools that somebody else runs."""
    tools = _add_tools(parser)
    tools.add_argument(
        "--tool-result",
        action="append",
        default=[],
        metavar="ID=FILE",
        help="the result of a call; what the run before printed comes on standard input",
    )


def _add_tools(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    tools = parser.add_argument_group("tools")
    tools.add_argument(
        "--tools",
        type=Path,
        metavar="FILE",
        help="tools that the model may call, in the form of OpenAI's API",
    )
    tools.add_argument(
        "--tool-choice",
        default="auto",
        metavar="CHOICE",
        help="auto, required, none, or the name of a tool that the first reply is to call",
    )
    return tools


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError("it is a number above 0, at most 3600")
    return value
