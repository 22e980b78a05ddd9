"""A command line as data: what a shell may offer at which place."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Value: TypeAlias = Literal["none", "own", "file", "folder", "names"]
_PATHS: dict[str, Value] = {"FILE": "file", "DIR": "folder"}
# Values that the program itself can name, by their metavar: what ``PROGRAM completion`` lists.
NAMES = {
    "MODEL": "models",
    "DIR_OR_HUB_ID": "models",
    "CHAT": "chats",
    "SERVED_MODEL": "served",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """``value``: what follows it, unless it is one of ``words``; ``names``: which names."""

    name: str
    help: str
    value: Value
    words: tuple[str, ...]
    names: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """``words``: what may stand as an argument without a flag."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    words: tuple[str, ...]
    commands: tuple[Command, ...] = ()


def command_of(parser: argparse.ArgumentParser, name: str = "", help: str = "") -> Command:
    """The syntax of ``parser``, with its subcommands; options without help are left out."""
    flags: list[Flag] = []
    words: list[str] = []
    commands: list[Command] = []
    # argparse has no public way to list what a parser was given.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands += _subcommands(action)
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            flags += _flags(action)
        else:
            words += _words(action)
    return Command(name or parser.prog, help, tuple(flags), tuple(words), tuple(commands))


def _subcommands(action: argparse._SubParsersAction[argparse.ArgumentParser]) -> Iterator[Command]:
    helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
    for name, parser in action.choices.items():
        yield command_of(parser, name, helps.get(name, ""))


def _flags(action: argparse.Action) -> Iterator[Flag]:
    words = _words(action)
    value: Value = "none"
    names = NAMES.get(str(action.metavar), "")
    if action.nargs != 0:
        value = "names" if names else _PATHS.get(str(action.metavar), "own")
    text = (action.help or "").replace("%%", "%")
    for name in action.option_strings:
        yield Flag(name, text, value, words, names)


def _words(action: argparse.Action) -> tuple[str, ...]:
    """The choices, which settings show as their metavar ``{one,other}``."""
    if action.choices is not None:
        return tuple(map(str, action.choices))
    shown = action.metavar if isinstance(action.metavar, str) else ""
    if shown.startswith("{") and shown.endswith("}"):
        return tuple(shown[1:-1].split(","))
    return ()
