"""Reads the calls of tools out of a reply, while it is being written.

Forms: ``<tool_call>{"name": ..., "arguments": ...}</tool_call>``, any number of times (Hermes,
Qwen); a reply that is nothing but ``{"name": ..., "parameters": ...}``, several of them separated
by ``;`` (Llama 3); and the same object when a grammar enforces it. What turns out to be no call
stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

OPEN_TAG = "<tool_call>"
CLOSE_TAG = "</tool_call>"
_PYTHON_TAG = "<|python_tag|>"
# How a reply that is a bare call begins, white space left out.
_BARE = ('{"name":"', '{"type":"function"')
_BARE_WITHIN = 64


@dataclass(frozen=True, slots=True)
class ToolCall:
    """``arguments``: their JSON."""

    id: str
    name: str
    arguments: str


Piece: TypeAlias = str | ToolCall
NewId: TypeAlias = Callable[[], str]


class CallReader(Protocol):
    """Splits the text of one reply."""

    def push(self, text: str) -> list[Piece]:
        """The pieces that are certain after ``text``."""

    def finish(self) -> list[Piece]:
        """The pieces that were held back, at the end of the reply."""


class FreeReader:
    """A reply that may call any of ``names`` and may be text; at most ``limit`` calls.

    White space that only lays out calls, before the first and after each, is no text.
    """

    def __init__(self, names: frozenset[str], limit: int, new_id: NewId) -> None:
        self._names = names
        self._left = limit
        self._new_id = new_id
        self._held = ""
        self._state = "start"
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
        if self._state != "bare":
            shown = held.lstrip() if self._called and self._at_edge else held
            return [shown] if shown else []
        calls = _objects(held.strip().removeprefix(_PYTHON_TAG))
        made = [self._call(call) for call in calls[: self._left]] if calls else []
        whole = [call for call in made if call is not None]
        return [*whole] if whole and len(whole) == len(made) else [held]

    def _step(self) -> list[Piece] | None:
        """Move on by one tag; None when more text is needed."""
        if self._state == "text":
            return self._text()
        at = self._held.find(CLOSE_TAG) if self._state == "tag" else -1
        if at < 0:
            return None
        inside, self._held = self._held[:at], self._held[at + len(CLOSE_TAG) :]
        self._state = "text"
        return self._tagged(inside, CLOSE_TAG)

    def _text(self) -> list[Piece] | None:
        if self._at_edge and not self._leaves_edge():
            return None
        at = self._held.find(OPEN_TAG)
        if at < 0:
            return self._release(len(self._held) - _open_tail(self._held)) or None
        pieces = self._release(at)
        self._held, self._state = self._held[len(OPEN_TAG) :], "tag"
        return pieces

    def _leaves_edge(self) -> bool:
        """Whether more than white space is there, and it is certain whether that is a tag."""
        begun = self._held.lstrip()
        if begun == OPEN_TAG[: len(begun)] and begun != OPEN_TAG:
            return False
        if self._called or begun.startswith(OPEN_TAG):
            self._held = begun
        self._at_edge = False
        return True

    def _release(self, length: int) -> list[Piece]:
        text, self._held = self._held[:length], self._held[length:]
        return [text] if text else []

    def _tagged(self, inside: str, close: str = "") -> list[Piece]:
        objects = _objects(inside)
        call = self._call(objects[0]) if len(objects) == 1 else None
        if call is None:
            return [OPEN_TAG + inside + close]
        self._called = self._at_edge = True
        if self._left <= 0:
            return []
        self._left -= 1
        return [call]

    def _call(self, value: object) -> ToolCall | None:
        found = _named(value)
        return None if found is None or found[0] not in self._names else _made(found, self._new_id)


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
        objects = _objects(text)
        found = _named(objects[0]) if len(objects) == 1 else None
        if found is None:
            return [text] if text else []
        return [_made(found, self._new_id)]


class PlainReader:
    """A reply that is text."""

    def push(self, text: str) -> list[Piece]:
        return [text] if text else []

    def finish(self) -> list[Piece]:
        return []


def _kind(text: str) -> str:
    """``bare`` or ``text``, or still ``start`` while the beginning leaves it open."""
    begun = text.lstrip()
    if _PYTHON_TAG.startswith(begun) and begun != _PYTHON_TAG:
        return "start"
    begun = re.sub(r"\s", "", begun.removeprefix(_PYTHON_TAG)[:_BARE_WITHIN])
    if begun.startswith(_BARE):
        return "bare"
    open_still = any(form.startswith(begun) for form in _BARE)
    return "start" if open_still and len(text) < _BARE_WITHIN else "text"


def _open_tail(text: str) -> int:
    """Length of the longest end of ``text`` that may begin the tag."""
    for length in range(min(len(OPEN_TAG) - 1, len(text)), 0, -1):
        if text.endswith(OPEN_TAG[:length]):
            return length
    return 0


def _objects(text: str) -> list[object]:
    """The JSON values of ``text``, separated by ``;``; none where anything else is in it."""
    decoder, values, rest = json.JSONDecoder(), list[object](), text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        rest = rest[end:].lstrip()
        if rest and not rest.startswith(";"):
            return []
        rest = rest[1:].lstrip()
    return values


def _named(value: object) -> tuple[str, object] | None:
    """Name and arguments of a call."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    return (value["name"], arguments) if isinstance(arguments, dict) else None


def _made(found: tuple[str, object], new_id: NewId) -> ToolCall:
    return ToolCall(new_id(), found[0], json.dumps(found[1], ensure_ascii=False))
