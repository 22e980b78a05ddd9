"""Arguments of ``chat`` and ``generate`` that are no settings: what is asked this once."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

from split_client.terminal.tool_arguments import ToolRequest, add_chat_tools, add_generate_tools


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``message`` is said first; ``load`` names a saved chat that goes on, ``newest``: the last."""

    message: str | None = None
    load: str | None = None
    newest: bool = False
    tools: ToolRequest = field(default_factory=ToolRequest)

    @classmethod
    def of(cls, options: argparse.Namespace) -> ChatRequest:
        return cls(options.message, options.load, options.newest, ToolRequest.of(options))


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """``prompt`` None is standard input; ``raw`` leaves the chat template out."""

    prompt: str | None
    raw: bool
    as_json: bool
    tools: ToolRequest = field(default_factory=ToolRequest)

    @classmethod
    def of(cls, options: argparse.Namespace) -> GenerateRequest:
        return cls(options.prompt, options.raw, options.json, ToolRequest.of(options))


def add_chat_arguments(parser: argparse.ArgumentParser) -> None:
    """The first message, and which saved chat goes on."""
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="the first message")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-c",
        "--continue",
        dest="newest",
        action="store_true",
        help="go on with the chat that was saved last",
    )
    which.add_argument("-l", "--load", metavar="CHAT", help="go on with a saved chat, or a FILE")
    add_chat_tools(parser)


def add_generate_arguments(parser: argparse.ArgumentParser) -> None:
    """The prompt and the forms of prompt and reply."""
    parser.add_argument(
        "prompt",
        nargs="?",
        metavar="PROMPT",
        help="the prompt; what comes through a pipe joins it; '-' or nothing: standard input alone",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--chat", dest="raw", action="store_false", help="ask as in a chat (the default)"
    )
    form.add_argument(
        "--raw", dest="raw", action="store_true", help="continue the text, without chat template"
    )
    parser.set_defaults(raw=False)
    parser.add_argument("--json", action="store_true", help="one JSON object per token and line")
    add_generate_tools(parser)
