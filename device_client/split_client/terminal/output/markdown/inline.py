"""Emphasis, code, links and escapes within one line (CommonMark 0.31, GFM's strikethrough).

A construct ends on the line that it begins on. Links are followed by their target, so that nobody
is led elsewhere than the text says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from split_client.terminal.output.markdown.emphasis import closing_run, opens, run_length
from split_client.terminal.output.markdown.layout import Run
from split_client.terminal.output.theme import Style

# An opened construct that is still open after so many characters is text.
LONGEST_HELD = 500
_DEEPEST = 8
_SPECIAL = frozenset("\\`*_~[!<")
_DECIDING = _SPECIAL | frozenset("])>")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ADDRESS = re.compile(r"<((?:https?://|mailto:)[^\s<>]+)>")
_ADDRESS_STARTS = ("<https://", "<http://", "<mailto:")


class Inline:
    """One line as it streams in; ``emit`` gets its text in styles that add to ``base``."""

    def __init__(self, emit: Callable[[str, Style], None], base: Style, marks: bool) -> None:
        self._emit, self._base, self._marks = emit, base, marks
        self._held, self._before = "", "\n"

    def feed(self, character: str) -> None:
        """The next character, which is no line break."""
        if not self._held and character not in _SPECIAL:
            self._before = character
            self._emit(character, self._base)
            return
        self._held += character
        if self._may_decide(character):
            self._drain(ended=False)

    def finish(self) -> None:
        """The line ends here."""
        self._drain(ended=True)

    def _may_decide(self, character: str) -> bool:
        """Whether it is worth looking again: only marks and what follows them decide anything."""
        if self._held[0] == "<" or len(self._held) > LONGEST_HELD:
            return True
        return character in _DECIDING or self._held[-2:-1] in _DECIDING

    def _drain(self, ended: bool) -> None:
        while self._held:
            used, runs = _step(self._held, self._before, ended, self._base, self._marks, 0)
            if not used:
                return
            self._before, self._held = self._held[used - 1], self._held[used:]
            for text, style in runs:
                self._emit(text, style)


def parsed(text: str, style: Style, marks: bool, depth: int = 0) -> Iterator[Run]:
    """A whole text of one line in its styles."""
    before = "\n"
    while text:
        used, runs = _step(text, before, True, style, marks, depth)
        before, text = text[used - 1], text[used:]
        yield from runs


def _step(
    text: str, before: str, ended: bool, style: Style, marks: bool, depth: int
) -> tuple[int, list[Run]]:
    """The number of characters of ``text`` that are decided, 0 for none yet, and what they show."""
    first = text[0]
    if first not in _SPECIAL:
        return 1, [(first, style)]
    ended = ended or len(text) > LONGEST_HELD
    if first == "\\":
        return _escape(text, ended, style)
    if first == "`":
        return _code(text, ended, style, marks)
    if first in "[!":
        return _link(text, ended, style, marks, depth)
    if first == "<":
        return _address(text, ended, style)
    return _emphasis(text, before, ended, style, marks, depth)


def _escape(text: str, ended: bool, style: Style) -> tuple[int, list[Run]]:
    if len(text) > 1 and text[1] in _PUNCTUATION:
        return 2, [(text[1], style)]
    return (1, [("\\", style)]) if len(text) > 1 or ended else (0, [])


def _code(text: str, ended: bool, style: Style, marks: bool) -> tuple[int, list[Run]]:
    run = run_length(text, 0)
    if run == len(text) and not ended:
        return 0, []
    end = code_end(text, run, ended)
    if end is None:
        return (run, [(text[:run], style)]) if ended else (0, [])
    content = text[run:end]
    if content.strip() and content[0] == content[-1] == " ":
        content = content[1:-1]
    mark = "`" if marks else ""
    return end + run, [(f"{mark}{content}{mark}", replace(style, role="code"))]


def code_end(text: str, run: int, ended: bool, start: int = 0) -> int | None:
    """The place of the ``run`` backticks that close those at ``start``; None while none do."""
    at = start + run
    while (at := text.find("`", at)) >= 0:
        length = run_length(text, at)
        if length == run and (ended or at + length < len(text)):
            return at
        at += length
    return None


def _emphasis(
    text: str, before: str, ended: bool, style: Style, marks: bool, depth: int
) -> tuple[int, list[Run]]:
    run = run_length(text, 0)
    if run == len(text) and not ended:
        return 0, []
    literal = (run, [(text[:run], style)])
    after = text[run] if run < len(text) else "\n"
    usable = run == 2 if text[0] == "~" else run <= 3
    if not usable or depth >= _DEEPEST or not opens(before, after, text[0]):
        return literal
    end = closing_run(text, run, ended)
    if end is None:
        return literal if ended else (0, [])
    if text[0] == "~":
        inner = style.also(struck=True)
    else:
        inner = style.also(bold=run >= 2, italic=run != 2)
    return end + run, list(parsed(text[run:end], inner, marks, depth + 1))


def _link(text: str, ended: bool, style: Style, marks: bool, depth: int) -> tuple[int, list[Run]]:
    start = text.startswith("!") + 1
    if start > len(text) or text[start - 1] != "[":
        literal = len(text) > 1 or ended
        return (1, [(text[0], style)]) if literal else (0, [])
    close = _balanced(text, start, "[]")
    if close is None or close + 1 == len(text):
        return (1, [(text[0], style)]) if ended else (0, [])
    end = _balanced(text, close + 2, "()") if text[close + 1] == "(" else None
    if end is None:
        literal = ended or text[close + 1] != "("
        return (1, [(text[0], style)]) if literal else (0, [])
    label, target = text[start:close], text[close + 2 : end].strip()
    linked = replace(style, role="link")
    if label == target or depth >= _DEEPEST:
        shown = [(label, linked)] if label == target else [(text[: end + 1], style)]
        return end + 1, shown
    runs = list(parsed(label, linked, marks, depth + 1))
    space = " " if label else ""
    return end + 1, [*runs, (f"{space}({target})", style)]


def _balanced(text: str, start: int, pair: str) -> int | None:
    """The place where the bracket opened before ``start`` closes; None while it does not."""
    depth, at = 1, start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] in pair:
            depth += 1 if text[at] == pair[0] else -1
            if not depth:
                return at
        at += 1
    return None


def _address(text: str, ended: bool, style: Style) -> tuple[int, list[Run]]:
    found = _ADDRESS.match(text)
    if found is not None:
        return found.end(), [(found[1], replace(style, role="link"))]
    begins = any(text.startswith(start[: len(text)]) for start in _ADDRESS_STARTS)
    waits = begins and not ended and not re.search(r"[\s>]", text)
    return (0, []) if waits else (1, [("<", style)])
