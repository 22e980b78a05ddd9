"""Standard output for replies, standard error for everything else."""

from __future__ import annotations

import os
import sys
from typing import Protocol, TextIO

from split_client.terminal.output.fold import columns, fold
from split_client.terminal.output.markdown.stream import MarkdownStream
from split_client.terminal.output.sanitise import Sanitiser, one_line
from split_client.terminal.output.theme import MONO, PLAIN, Role, Style, Theme, theme_for
from split_client.terminal.output.width import measure
from split_client.terminal.output.wrap import Wrapper


class _Shaper(Protocol):
    """Puts a reply's harmless text into lines."""

    def feed(self, text: str) -> str: ...
    def flush(self) -> str: ...
    def line_broken(self) -> None: ...


class Screen:
    """``out`` carries what was asked for, ``err`` notices, progress and errors.

    ``markdown``: whether replies are rendered where a person reads them; it may be changed between
    replies. ``theme``: one of ``theme.NAMES``.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        err: TextIO | None = None,
        *,
        theme: str = "auto",
        markdown: bool = True,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.markdown = markdown
        self.use_theme(theme)
        self._sanitiser = Sanitiser()
        self._shaper: _Shaper | None = None
        self._inside_line = False
        # Whether the reply has shown anything yet.
        self._said = False

    def use_theme(self, name: str) -> None:
        """Take the colours of the theme called ``name``, as far as the terminal has them."""
        self.theme_name = name
        self.theme: Theme = theme_for(name, os.environ) if self.interactive else PLAIN
        self._err_theme = theme_for(name, os.environ) if self.err.isatty() else PLAIN

    def begin_reply(self, *, verbatim: bool = False) -> None:
        """Call before the first piece: an open escape sequence must not swallow the next reply.

        ``verbatim``: the text is no markdown.
        """
        self._sanitiser = Sanitiser()
        self._said = False
        self._shaper = self._new_shaper(verbatim) if self.interactive else None

    def end_reply(self) -> None:
        """Call after the last piece.

        For a person a reply without text, such as a call of a tool, leaves no empty line.
        """
        if self._shaper is not None:
            rest = self._shaper.flush()
            self._shaper = None
            self.out.write(rest)
            self._said = self._said or bool(rest)
        if self._said or not self.interactive:
            self.line()

    def reply(self, text: str) -> None:
        """A piece of the model's text, made harmless."""
        harmless = self._sanitiser.feed(text)
        shown = self._shaper.feed(harmless) if self._shaper else harmless
        if shown:
            self._inside_line = not shown.endswith("\n")
            self._said = True
            self.out.write(shown)
            self.out.flush()

    def line(self, text: str = "") -> None:
        """A line of our own on ``out``."""
        self._inside_line = False
        self.out.write(text + "\n")
        self.out.flush()

    def paragraph(self, text: str, hang: int = 0, role: Role = "model") -> None:
        """The same, broken between words where a person reads it; see :func:`fold`."""
        self.line(_painted(fold(text, self.out, hang), self.theme, role))

    def note(self, text: str) -> None:
        """A quiet line on ``err``."""
        self._write_styled("note", text)

    def error(self, text: str, code: str) -> None:
        """The one line that tells what went wrong and what to do."""
        self._write_styled("error", f"error: {one_line(text, 600)} [{one_line(code, 64)}]")

    @property
    def interactive(self) -> bool:
        """Whether a person looks at ``out``."""
        return self.out.isatty()

    @property
    def coloured(self) -> bool:
        """Whether ``out`` can show the 256 colours and nobody declines them (no-color.org)."""
        return self.interactive and self.theme not in (PLAIN, MONO)

    def _new_shaper(self, verbatim: bool) -> _Shaper:
        width = columns(self.out) - 1
        if self.markdown and not verbatim and self.theme is not PLAIN:
            return MarkdownStream(width, measure, self.theme)
        return Wrapper(width, measure)

    def _write_styled(self, role: Role, text: str) -> None:
        if self._inside_line and self.interactive:
            # A notice in the middle of a reply stands on a line of its own.
            self.line()
            if self._shaper is not None:
                self._shaper.line_broken()
        indent = len(text) - len(text.lstrip(" "))
        self.err.write(_painted(fold(text, self.err, indent), self._err_theme, role) + "\n")
        self.err.flush()


def _painted(text: str, theme: Theme, role: Role) -> str:
    return "\n".join(theme.paint(line, Style(role)) for line in text.split("\n"))
