"""``/help``."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.terminal.commands.command import Command, Group
from split_client.terminal.output.fold import room
from split_client.terminal.output.screen import Screen

_KEYS = (
    "Enter sends. Alt-Enter, or a backslash at the end of a line, begins a new line.",
    'A message between """ and """ may have several lines, also pasted ones.',
    "Ctrl-C stops a reply and keeps the chat; twice breaks off a reply that hangs.",
    "Tab completes commands, and names of chats, presets and files behind them.",
    "Up and down bring back what was typed, also in earlier chats; Ctrl-R searches.",
    "At the prompt, Ctrl-D or Ctrl-C twice leaves.",
    "A message that begins with a slash is written with two: //text.",
)
# Side by side only where what a command does still has room.
_LEAST_TEXT = 40


def show_help(screen: Screen, groups: Sequence[Group]) -> None:
    """Keys, then the commands under their headings."""
    for line in _KEYS:
        screen.paragraph(line)
    names = max(len(_usage(command)) for group in groups for command in group.commands) + 2
    beside = not screen.interactive or room(screen.out) - names >= _LEAST_TEXT
    for group in groups:
        screen.line()
        screen.paragraph(group.title, role="heading")
        for command in group.commands:
            if beside:
                screen.paragraph(_usage(command).ljust(names) + command.what, names)
            else:
                screen.paragraph(_usage(command))
                screen.paragraph(f"  {command.what}", 2)


def _usage(command: Command) -> str:
    return f"/{command.usage}"
