"""Reads the calls of tools out of a reply, while it is being written.

What turns out to be no call stays text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from split_client.tools.call import NewId, ToolCall
from split_client.tools.families import HERMES, LLAMA, CallForm
from split_client.tools.parsing import call_of, calls_in, objects

# How a reply that is a bare call begins, white space left out.
_BARE = ('{"name":"', '{"type":"function"')
_BARE_WITHIN = 64
# Characters of a call, or of several in one pair of marks; more are not held back.
MAX_CALL = 256 << 10

Piece: TypeAlias = str | ToolCall


class CallReader(Protocol):
    """Splits the text of one reply."""

    def push(self, text: str) -> list[Piece]:
        """The pieces that are certain after ``text``."""

    def finish(self) -> list[Piece]:
        """The pieces that were held back, at the end of the reply."""


class FreeReader:
    """A reply that may call tools and may be text; at most ``limit`` calls.

    ``names``: those that may be called; a call of another one stays text. None: any between marks,
    so that whoever runs the calls can tell the model. ``known``: names that a call without a mark
    needs in that case. White space that only lays out calls, before the first and after each, is
    no text.
    """

    def __init__(
        self,
        names: frozenset[str] | None,
        limit: int,
        new_id: NewId,
        forms: Sequence[CallForm] = (HERMES, LLAMA),
        known: frozenset[str] = frozenset(),
    ) -> None:
        self._names, self._known = names, known if names is None else names
        self._left = limit
        self._new_id = new_id
        self._opens = [(text, form) for form in forms for text in form.opens]
        self._bare = next((form for form in forms if form.bare), None)
        self._held, self._opened = "", ""
        self._form = forms[0]
        self._state = "text" if self._bare is None else "start"
        self._at_edge = True
        self._called = False

    def push(self, text: str) -> list[Piece]:
        self._held += text
        if self._state == "start":
            self._state = _kind(self._held)
        pieces: list[Piece] = []
        while (found := self._step()) is not None:
            pieces += found
        return pieces

    def finish(self) -> list[Piece]:
        held, self._held = self._held, ""
        if self._state == "tag":
            return self._tagged(held)
        if self._state != "bare" or self._bare is None:
            shown = held.lstrip() if self._called and self._at_edge else held
            return [shown] if shown else []
        calls = calls_in(held, self._bare, self._new_id)
        known = bool(calls) and all(call.name in self._known for call in calls)
        return [*calls[: self._left]] if known else [held]

    def _step(self) -> list[Piece] | None:
        """Move on by one mark; None when more text is needed."""
        if self._state == "text":
            return self._text()
        if self._state in ("bare", "tag") and len(self._held) > MAX_CALL:
            return self._too_long()
        if self._state != "tag":
            return None
        close = self._form.close
        # Where nothing closes a call, the next one does.
        at = self._held.find(close or self._opened)
        if at < 0:
            return None
        inside, self._held = self._held[:at], self._held[at + len(close) :]
        self._state = "text"
        return self._tagged(inside, close)

    def _too_long(self) -> list[Piece]:
        """What no call is as long as is text."""
        opened = self._opened if self._state == "tag" else ""
        held, self._held, self._state = self._held, "", "text"
        return [opened + held]

    def _text(self) -> list[Piece] | None:
        if self._at_edge and not self._leaves_edge():
            return None
        found = [
            (at, text, form) for text, form in self._opens if (at := self._held.find(text)) >= 0
        ]
        if not found:
            return self._release(len(self._held) - self._open_tail()) or None
        at, self._opened, self._form = min(found, key=lambda place: place[0])
        pieces = self._release(at)
        self._held, self._state = self._held[len(self._opened) :], "tag"
        return pieces

    def _leaves_edge(self) -> bool:
        """Whether more than white space is there, and it is certain whether that is a mark."""
        begun = self._held.lstrip()
        if any(text.startswith(begun) and begun != text for text, _ in self._opens):
            return False
        if self._called or any(begun.startswith(text) for text, _ in self._opens):
            self._held = begun
        self._at_edge = False
        return True

    def _open_tail(self) -> int:
        """Length of the longest end of what is held that may begin a mark."""
        longest = max(len(text) for text, _ in self._opens) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            end = self._held[-length:]
            if any(text.startswith(end) for text, _ in self._opens):
                return length
        return 0

    def _release(self, length: int) -> list[Piece]:
        text, self._held = self._held[:length], self._held[length:]
        return [text] if text else []

    def _tagged(self, inside: str, close: str = "") -> list[Piece]:
        calls = calls_in(inside, self._form, self._new_id)
        allowed = self._names is None or all(call.name in self._names for call in calls)
        if not calls or not allowed:
            return [self._opened + inside + close]
        self._called = self._at_edge = True
        taken = calls[: max(0, self._left)]
        self._left -= len(taken)
        return [*taken]


class ForcedReader:
    """A reply that a grammar makes one call; one that was cut off stays text."""

    def __init__(self, new_id: NewId) -> None:
        self._new_id = new_id
        self._parts: list[str] = []

    def push(self, text: str) -> list[Piece]:
        self._parts.append(text)
        return []

    def finish(self) -> list[Piece]:
        text = "".join(self._parts)
        self._parts = []
        values = objects(text)
        call = call_of(values[0], self._new_id) if len(values) == 1 else None
        if call is None:
            return [text] if text else []
        return [call]


class PlainReader:
    """A reply that is text."""

    def push(self, text: str) -> list[Piece]:
        return [text] if text else []

    def finish(self) -> list[Piece]:
        return []


def _kind(text: str) -> str:
    """``bare`` or ``text``, or still ``start`` while the beginning leaves it open."""
    begun = re.sub(r"\s", "", text.lstrip()[:_BARE_WITHIN])
    if begun.startswith(_BARE):
        return "bare"
    open_still = any(form.startswith(begun) for form in _BARE)
    return "start" if open_still and len(text) < _BARE_WITHIN else "text"
