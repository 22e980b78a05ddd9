"""The finding of one check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from split_client.transport.reach.causes import Cause

State: TypeAlias = Literal["ok", "warning", "problem", "skipped"]
Fact: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Finding:
    """``cause`` is stable and for programs, ``advice`` is what to do, empty where nothing is.

    A ``warning`` leaves a chat possible. ``stops``: checks that need the server cannot go on.
    """

    check: str
    state: State
    message: str
    cause: str = ""
    advice: str = ""
    stops: bool = False
    facts: dict[str, Fact] = field(default_factory=dict)


def ok(check: str, message: str, **facts: Fact) -> Finding:
    """All is well."""
    return Finding(check, "ok", message, facts=facts)


def warning(check: str, cause: str, message: str, advice: str, **facts: Fact) -> Finding:
    """A chat works, though not as well as it could."""
    return Finding(check, "warning", message, cause, advice, facts=facts)


def caused(check: str, cause: Cause) -> Finding:
    """A problem that commands name in the same words."""
    return problem(check, cause.code, cause.message, cause.advice)


def problem(check: str, cause: str, message: str, advice: str, **facts: Fact) -> Finding:
    """No chat comes about, and nothing beyond this point can be checked."""
    return Finding(check, "problem", message, cause, advice, stops=True, facts=facts)
