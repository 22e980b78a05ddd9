"""Flags of a declaration, for an argparse parser or one of its subparsers."""

from __future__ import annotations

import argparse
from typing import Any

from split_settings.declare import Setting, section_of, settings_of


def add_arguments(parser: argparse.ArgumentParser, cls: type[object]) -> None:
    """Add one flag per setting of ``cls`` to ``parser``, and ``--config FILE``.

    Values stay text in the namespace and absent flags stay absent, so that resolving parses every
    source in the same way and knows which flags were given.
    """
    section = section_of(cls)
    groups: dict[str, argparse._ArgumentGroup] = {}
    for setting in settings_of(cls):
        if setting.details.tables is not None:
            continue
        title = setting.details.group
        if title is not None and title not in groups:
            groups[title] = parser.add_argument_group(title)
        _add(groups[title] if title is not None else parser, setting)
    parser.add_argument(
        "--config",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help=f"TOML file with a [{section}] table (default: SPLIT_CONFIG, then the user's "
        f"configuration folder); every flag can also be SPLIT_{section.upper()}_<NAME>",
    )


def _add(target: argparse._ActionsContainer, setting: Setting) -> None:
    common: dict[str, Any] = {
        "dest": setting.name,
        "default": argparse.SUPPRESS,
        "help": _help(setting),
    }
    short = setting.details.short
    names = [setting.flag] if short is None else [short, setting.flag]
    if setting.kind is bool:
        target.add_argument(*names, action=argparse.BooleanOptionalAction, **common)
        return
    action = "append" if setting.repeated else "store"
    target.add_argument(*names, action=action, metavar=_metavar(setting), **common)


def _metavar(setting: Setting) -> str:
    if setting.details.metavar is not None:
        return setting.details.metavar
    if setting.details.choices is not None:
        return "{" + ",".join(setting.details.choices) + "}"
    return {int: "N", float: "X"}.get(setting.kind, "VALUE")


def _help(setting: Setting) -> str:
    text = setting.details.help
    if setting.repeated:
        text += " (may be repeated)"
    default = setting.default
    if default in (None, (), "") or setting.details.secret or default is False:
        return text.replace("%", "%%")
    if default is True:
        shown = "on"
    elif isinstance(default, tuple):
        shown = ", ".join(map(str, default))
    else:
        shown = f"{default:g}" if isinstance(default, float) else str(default)
    return f"{text} (default: {shown})".replace("%", "%%")
