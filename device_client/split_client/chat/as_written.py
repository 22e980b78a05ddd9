"""Calls as the model wrote them, where a template writes them in a way of its own.

A template spells a call anew from its name and arguments, with other white space than the model
did, and from there on a later prompt would differ from what a server holds. So it is learned where
the template closes the reply, and what stands before is put back as it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class _Written:
    rendered: str
    text: str


class AsWritten:
    """``ends``: texts of the tokens that end a turn."""

    def __init__(self, ends: tuple[str, ...]) -> None:
        self._ends = tuple(filter(None, ends))
        self._written: list[_Written] = []

    def text(self, rendered: str) -> str:
        """``rendered`` by the template, with the calls of earlier replies as they were written."""
        for written in reversed(self._written):
            if rendered.startswith(written.rendered):
                return written.text + rendered[len(written.rendered) :]
        return rendered

    def note(self, prompt: tuple[str, str], rendered: str, raw: str) -> None:
        """The reply ``raw`` continued ``prompt`` (as rendered, as it was sent), and the template
        makes ``rendered`` of the chat with it.
        """
        tail = rendered[len(prompt[0]) :]
        at = max((tail.rfind(end) for end in self._ends), default=-1)
        if at < 0 or not rendered.startswith(prompt[0]):
            return
        end = next((end for end in self._ends if raw.endswith(end)), "")
        self._written = self._written[1 - _KEPT :]
        self._written.append(_Written(rendered, prompt[1] + raw.removesuffix(end) + tail[at:]))

    def forget(self) -> None:
        """The chat is another one."""
        self._written = []
