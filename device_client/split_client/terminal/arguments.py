"""Arguments of ``chat`` and ``generate`` that are no settings: what is asked this once."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from split_client.terminal.tool_arguments import ToolRequest, add_chat_tools, add_generate_tools

if TYPE_CHECKING:
    from split_client.grammar.form import Form


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``message`` is said first; ``load`` names a saved chat that goes on, ``newest``: the last.

    ``form``: what replies are to be. ``model_named``: the model was named on the command line.
    """

    message: str | None = None
    load: str | None = None
    newest: bool = False
    form: Form | None = None
    tools: ToolRequest = field(default_factory=ToolRequest)
    model_named: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> ChatRequest:
        """Raises GrammarInvalid, InputNotText, SettingInvalid."""
        tools = ToolRequest.of(options)
        named = getattr(options, "model", None) is not None
        return cls(options.message, options.load, options.newest, _form(options), tools, named)


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """``prompt`` None is standard input; ``raw`` leaves the chat template out; ``form``: what
    the reply is to be.
    """

    prompt: str | None
    raw: bool
    as_json: bool
    form: Form | None = None
    tools: ToolRequest = field(default_factory=ToolRequest)

    @classmethod
    def of(cls, options: argparse.Namespace) -> GenerateRequest:
        """Raises GrammarInvalid, InputNotText, SettingInvalid."""
        tools = ToolRequest.of(options)
        return cls(options.prompt, options.raw, options.json, _form(options), tools)


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
    _add_form_arguments(parser)
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
    _add_form_arguments(parser)


def _add_form_arguments(parser: argparse.ArgumentParser) -> None:
    """One form at most, which replies are to have."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json-schema", metavar="FILE", help="the reply is JSON of this schema")
    form.add_argument("--json-object", action="store_true", help="the reply is a JSON object")
    form.add_argument("--regex", metavar="R", help="all of the reply matches this expression")
    form.add_argument(
        "--grammar", metavar="FILE", help="the reply is of this grammar: Lark, or llama.cpp's GBNF"
    )
    form.add_argument(
        "--choice",
        metavar="TEXT",
        action="append",
        help="the reply is this text, or that of another --choice",
    )


def _form(options: argparse.Namespace) -> Form | None:
    # Most commands need none, and start sooner.
    from split_client.terminal.form import form_from

    return form_from(options)
