"""A command of the chat, and groups of them for its help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Next: TypeAlias = Literal["stay", "answer", "edit", "switch", "quit"]
"""What the chat does when a command is done; ``switch``: it goes on with another model."""


@dataclass(frozen=True, slots=True)
class Command:
    """``usage`` as ``/help`` shows it, without the slash; ``names`` are all that call it."""

    names: tuple[str, ...]
    usage: str
    what: str
    run: Callable[[str], Next]


@dataclass(frozen=True, slots=True)
class Group:
    """Commands that ``/help`` lists under one heading."""

    title: str
    commands: tuple[Command, ...]
