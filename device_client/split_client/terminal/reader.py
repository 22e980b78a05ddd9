"""Where a chat's lines come from: a person at a terminal, or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol, TextIO

from split_client.terminal.screen import Screen
from split_client.terminal.theme import PLAIN, Style, Theme

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
    """Line editing with the history of this chat, which is kept in memory only."""

    def __init__(self, theme: Callable[[], Theme] = lambda: PLAIN) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.formatted_text import ANSI
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

        keys = KeyBindings()

        @keys.add("enter")
        def _enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.newline(copy_margin=False)
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _new_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        self._session: PromptSession[str] = PromptSession(
            lambda: ANSI(theme().paint(PROMPT, Style("you"))),
            multiline=True,
            key_bindings=keys,
            prompt_continuation=CONTINUED,
            enable_open_in_editor=False,
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
