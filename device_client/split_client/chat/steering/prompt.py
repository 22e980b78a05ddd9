"""The prompt that a reply answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt that a reply continues; ``revision`` tells whether the chat has moved on since,
    ``rendered`` is what the template made of it.
    """

    text: str
    ids: list[int]
    revision: int
    rendered: str = ""
