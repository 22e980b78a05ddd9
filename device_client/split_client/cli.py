"""The command ``split-client``.

Exit status: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from split_client.audit.arguments import AuditRequest, add_audit_arguments
from split_client.config.chat import ChatConfig
from split_client.config.connection import ConnectionConfig
from split_client.config.reply import ReplyConfig
from split_client.errors import ClientError
from split_client.terminal.arguments import (
    ChatRequest,
    GenerateRequest,
    add_chat_arguments,
    add_generate_arguments,
)
from split_settings import SettingsError, add_arguments, load
from split_settings.completion import SHELLS, add_completion, completion, name_lines
from split_settings.output import while_read
from split_settings.version import add_version

if TYPE_CHECKING:
    from split_client.terminal.output.screen import Screen

_EPILOG = (
    "exit status: 0 done, 1 failed (one line 'error: ... [code]'), 2 wrong usage, "
    "130 stopped by Ctrl-C"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return while_read(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a reply.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        return _run(options)
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    from split_client.generation.errors import InvalidSamplingParameter
    from split_client.grammar.errors import GrammarInvalid, GrammarMissing, TokenizerUnreadable
    from split_client.redaction.errors import RedactionInvalid
    from split_client.terminal.output.screen import Screen
    from split_client.terminal.sampling import SettingInvalid
    from split_client.tools.errors import ToolChoiceInvalid, ToolResultInvalid, ToolsInvalid
    from split_wire.errors import SplitError

    screen = Screen()
    tools = (ToolsInvalid, ToolChoiceInvalid, ToolResultInvalid)
    invalid = (SettingInvalid, InvalidSamplingParameter, GrammarInvalid, RedactionInvalid)
    usage = (SettingsError, *invalid, *tools)
    try:
        return _dispatch(options, screen)
    except (GrammarMissing, TokenizerUnreadable) as error:
        screen.error(str(error), error.code)
        return 1
    except usage as error:
        screen.error(str(error), error.code)
        return 2
    except (ClientError, SplitError) as error:
        screen.error(str(error), error.code)
        return 1


def _dispatch(options: argparse.Namespace, screen: Screen) -> int:
    if options.command == "completion":
        return _completion(options.shell, screen)
    if options.command == "models":
        return _models(options, screen)
    if options.command == "pull":
        return _pull(options, screen)
    if options.command == "doctor":
        return _doctor(options, screen)
    if options.command == "audit":
        return _audit(options, screen)
    if options.command in ("pair", "unpair"):
        return _pairing(options, screen)
    if options.command == "chat":
        from split_client.terminal.chat import run_chat

        run_chat(load(ChatConfig, options), ChatRequest.of(options), screen)
        return 0
    config = load(ReplyConfig, options, also=(ChatConfig,))
    request = GenerateRequest.of(options)
    if request.tools.wanted:
        from split_client.terminal.tools.generating import run_generate_with_tools

        return 0 if run_generate_with_tools(config, request, screen) else 130
    from split_client.terminal.generate import run_generate

    return 0 if run_generate(config, request, screen) else 130


def _completion(what: str, screen: Screen) -> int:
    if what in SHELLS:
        screen.out.write(completion(_parser(), what))
        return 0
    from split_client.terminal.names import known_names

    config = load(ChatConfig, argparse.Namespace(), tell=lambda _: None)
    screen.out.write(name_lines(known_names(config, what)))
    return 0


def _models(options: argparse.Namespace, screen: Screen) -> int:
    from split_client.terminal.models import run_models

    config = load(ConnectionConfig, options, also=(ChatConfig,))
    run_models(config, screen, as_json=options.json)
    return 0


def _pull(options: argparse.Namespace, screen: Screen) -> int:
    from split_client.terminal.pull import run_list, run_pull, run_remove

    config = load(ConnectionConfig, options, also=(ChatConfig,))
    if options.list:
        run_list(config, screen)
    elif options.remove is not None:
        run_remove(config, options.remove, screen)
    else:
        run_pull(config, screen)
    return 0


def _doctor(options: argparse.Namespace, screen: Screen) -> int:
    from split_client.doctor.report import run_doctor

    config = load(ConnectionConfig, options, also=(ChatConfig,))
    return 0 if run_doctor(config, screen, as_json=options.json) else 1


def _audit(options: argparse.Namespace, screen: Screen) -> int:
    from split_client.audit.run import run_audit

    config = load(ConnectionConfig, options, also=(ChatConfig,))
    return 0 if run_audit(config, AuditRequest.of(options), screen) else 1


def _pairing(options: argparse.Namespace, screen: Screen) -> int:
    from split_client.terminal.pair import run_pair, run_unpair

    if options.command == "pair":
        run_pair(options.link, options.code, options.name, screen)
    else:
        run_unpair(options.url, screen)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="split-client",
        description="Chat with a model whose middle runs on a split server.",
        epilog=_EPILOG,
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chat = commands.add_parser("chat", help="talk to the model", epilog=_EPILOG)
    add_chat_arguments(chat)
    add_arguments(chat, ChatConfig)
    generate = commands.add_parser("generate", help="one prompt, one reply", epilog=_EPILOG)
    add_generate_arguments(generate)
    add_arguments(generate, ReplyConfig)
    pull = commands.add_parser("pull", help="fetch the model's weights", epilog=_EPILOG)
    action = pull.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="list the stored models")
    action.add_argument("--remove", metavar="MODEL", help="delete a stored model (name or digest)")
    add_arguments(pull, ConnectionConfig)
    models = commands.add_parser(
        "models", help="list the models that the server has, and those stored here", epilog=_EPILOG
    )
    models.add_argument("--json", action="store_true", help="one JSON document")
    add_arguments(models, ConnectionConfig)
    doctor = commands.add_parser("doctor", help="find out why no chat works", epilog=_EPILOG)
    doctor.add_argument("--json", action="store_true", help="one JSON document")
    add_arguments(doctor, ConnectionConfig)
    audit = commands.add_parser("audit", help="measure what the server learns", epilog=_EPILOG)
    add_audit_arguments(audit)
    add_arguments(audit, ConnectionConfig)
    pair = commands.add_parser("pair", help="pair this device with a server", epilog=_EPILOG)
    pair.add_argument("link", help="what split-server pair shows, in quotes; or the server's URL")
    pair.add_argument("--code", help="the pairing code, where only the URL is given")
    pair.add_argument("--name", help="what the server calls this device (default: its host name)")
    unpair = commands.add_parser("unpair", help="forget a server's authority and token")
    unpair.add_argument("url", help="the server's URL")
    add_completion(commands, names=("models", "chats", "served"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
