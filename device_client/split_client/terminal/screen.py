"""Standard output for replies, standard error for everything else."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from split_client.terminal.sanitise import Sanitiser, one_line

_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"


class Screen:
    """``out`` carries what was asked for, ``err`` notices, progress and errors."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self._sanitiser = Sanitiser()

    def begin_reply(self) -> None:
        """An escape sequence left open by one reply must not swallow the next."""
        self._sanitiser = Sanitiser()

    def reply(self, text: str) -> None:
        """A piece of the model's text, made harmless."""
        self.out.write(self._sanitiser.feed(text))
        self.out.flush()

    def line(self, text: str = "") -> None:
        """A line of our own on ``out``."""
        self.out.write(text + "\n")
        self.out.flush()

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

    def _write_styled(self, style: str, text: str) -> None:
        if self.err.isatty() and not os.environ.get("NO_COLOR"):
            text = f"{style}{text}{_RESET}"
        self.err.write(text + "\n")
        self.err.flush()
