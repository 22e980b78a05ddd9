"""Standard output for replies, standard error for everything else."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from split_client.terminal.fold import columns, fold
from split_client.terminal.sanitise import Sanitiser, one_line
from split_client.terminal.wrap import Wrapper

_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"


class Screen:
    """``out`` carries what was asked for, ``err`` notices, progress and errors."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self._sanitiser = Sanitiser()
        self._wrapper: Wrapper | None = None
        self._inside_line = False

    def begin_reply(self) -> None:
        """Call before the first piece: an open escape sequence must not swallow the next reply."""
        self._sanitiser = Sanitiser()
        if self.interactive:
            from prompt_toolkit.utils import get_cwidth

            self._wrapper = Wrapper(columns(self.out) - 1, get_cwidth)

    def end_reply(self) -> None:
        """Call after the last piece."""
        if self._wrapper is not None:
            self.out.write(self._wrapper.flush())
        self.line()

    def reply(self, text: str) -> None:
        """A piece of the model's text, made harmless."""
        harmless = self._sanitiser.feed(text)
        shown = self._wrapper.feed(harmless) if self._wrapper else harmless
        if shown:
            self._inside_line = not shown.endswith("\n")
            self.out.write(shown)
            self.out.flush()

    def line(self, text: str = "") -> None:
        """A line of our own on ``out``."""
        self._inside_line = False
        self.out.write(text + "\n")
        self.out.flush()

    def paragraph(self, text: str, hang: int = 0) -> None:
        """The same, broken between words where a person reads it; see :func:`fold`."""
        self.line(fold(text, self.out, hang))

    def note(self, text: str) -> None:
        """A dim line on ``err``."""
        self._write_styled(_DIM, text)

    def error(self, text: str, code: str) -> None:
        """The one line that tells what went wrong and what to do."""
        self._write_styled(_RED, f"error: {one_line(text, 600)} [{one_line(code, 64)}]")

    @property
    def interactive(self) -> bool:
        """Whether a person looks at ``out``."""
        return self.out.isatty()

    @property
    def coloured(self) -> bool:
        """Whether ``out`` can show colours and nobody declines them (no-color.org)."""
        return self.interactive and not _declined() and os.environ.get("TERM") != "dumb"

    def _write_styled(self, style: str, text: str) -> None:
        if self._inside_line and self.interactive:
            # A notice in the middle of a reply stands on a line of its own.
            self.line()
            if self._wrapper is not None:
                self._wrapper.line_broken()
        text = fold(text, self.err)
        if self.err.isatty() and not _declined():
            text = f"{style}{text}{_RESET}"
        self.err.write(text + "\n")
        self.err.flush()


def _declined() -> bool:
    return bool(os.environ.get("NO_COLOR"))
