"""Readers of a chat's lines: from a person at a terminal, or from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from split_client.terminal.output.screen import Screen
from split_client.terminal.output.theme import PLAIN, Style, Theme

PROMPT = "> "
CONTINUED = "… "


class Reader(Protocol):
    """Reads one message at a time."""

    def read(self, draft: str = "") -> str | None:
        """The next message, None at the end.

        ``draft`` is there to be edited. May raise KeyboardInterrupt.
        """


class PipeReader:
    """One message per line; a backslash at the end of a line continues it."""

    def __init__(self, source: TextIO) -> None:
        self._source = source

    def read(self, draft: str = "") -> str | None:
        """The next message; there is nobody to edit ``draft``."""
        del draft
        lines = []
        while line := self._source.readline():
            text = line.rstrip("\r\n")
            if not text.endswith("\\"):
                lines.append(text)
                return "\n".join(lines)
            lines.append(text[:-1])
        return "\n".join(lines) if lines else None


class PromptReader:
    """Line editing with the history of this chat, which is kept in memory only.

    ``offer`` names whole lines that the Tab key may make of the one that was begun.
    """

    def __init__(self, theme: Callable[[], Theme] = lambda: PLAIN) -> None:
        from split_client.terminal.input.prompt import new_session

        self.offer: Callable[[str], Sequence[str]] = lambda _: ()
        self._session = new_session(
            lambda: theme().paint(PROMPT, Style("you")), CONTINUED, lambda line: self.offer(line)
        )

    def read(self, draft: str = "") -> str | None:
        """The next message."""
        try:
            return self._session.prompt(default=draft)
        except EOFError:
            return None


def reader_for(screen: Screen) -> Reader:
    """A person gets line editing, a pipe does not."""
    if sys.stdin.isatty() and screen.interactive:
        return PromptReader(lambda: screen.theme)
    return PipeReader(sys.stdin)
