"""Readers of a chat's lines: from a person at a terminal, or from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from split_client.terminal.input.block import QUOTES, is_open
from split_client.terminal.input.history import HistoryFile
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.theme import PLAIN, Style, Theme

PROMPT = "> "
CONTINUED = "… "
# Characters; more than any context holds, and a bound for a block that nobody ends.
_LONGEST_BLOCK = 16 << 20


class Reader(Protocol):
    """Reads one message at a time."""

    def read(self, draft: str = "") -> str | None:
        """The next message, None at the end.

        ``draft`` is there to be edited. May raise KeyboardInterrupt.
        """


class PipeReader:
    """One message per line; a backslash at the end of a line continues it, and so do blocks."""

    def __init__(self, source: TextIO) -> None:
        self._source = source

    def read(self, draft: str = "") -> str | None:
        """The next message; there is nobody to edit ``draft``."""
        del draft
        lines: list[str] = []
        while line := self._source.readline():
            text = line.rstrip("\r\n")
            if not lines and is_open(text):
                return self._block(text)
            if not text.endswith("\\"):
                lines.append(text)
                return "\n".join(lines)
            lines.append(text[:-1])
        return "\n".join(lines) if lines else None

    def _block(self, first: str) -> str:
        """The lines of a block with its quotes, to its end or the bound."""
        lines, room = [first], _LONGEST_BLOCK - len(first)
        while room > 0 and (line := self._source.readline(room + 1)):
            lines.append(line.rstrip("\r\n"))
            room -= len(line)
            if lines[-1].rstrip().endswith(QUOTES):
                break
        return "\n".join(lines)


class PromptReader:
    """Line editing with what was typed before: in the file ``history``, None: in this chat alone.

    ``meter`` tells of the text that is being typed how much room it takes, at the right of it;
    ``offer`` names whole lines that the Tab key may make of the one that was begun; ``complain``
    is told once why the file cannot be written.
    """

    def __init__(
        self,
        theme: Callable[[], Theme] = lambda: PLAIN,
        history: HistoryFile | None = None,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        from split_client.terminal.input.prompt import Kept, new_session

        self.offer: Callable[[str], Sequence[str]] = lambda _: ()
        self.meter: Callable[[str], str] = lambda _: ""
        self._kept = None if history is None else Kept(history)
        self._complain: Callable[[str], None] | None = complain
        self._session = new_session(
            lambda: theme().paint(PROMPT, Style("you")),
            CONTINUED,
            lambda line: self.offer(line),
            self._kept,
            lambda text: theme().paint(self.meter(text), Style("note")),
        )

    def read(self, draft: str = "") -> str | None:
        """The next message."""
        try:
            return self._session.prompt(default=draft)
        except EOFError:
            return None
        finally:
            self._tell_failure()

    def _tell_failure(self) -> None:
        if self._kept is not None and self._kept.failed and self._complain is not None:
            self._complain(f"what is typed is not kept: {self._kept.failed}; --no-history")
            self._complain = None


def reader_for(screen: Screen, history: HistoryFile | None = None) -> Reader:
    """A person gets line editing, a pipe does not."""
    if sys.stdin.isatty() and screen.interactive:
        return PromptReader(lambda: screen.theme, history, screen.note)
    return PipeReader(sys.stdin)
