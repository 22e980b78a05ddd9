"""How many drafts are wanted, and of what they may be made."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast, get_args

from split_client.generation.errors import InvalidSamplingParameter

Drafts: TypeAlias = int | Literal["auto", "off"]
""""auto": as many tokens as pay, "off": none, a number: always so many where there is a guess."""
DraftMemory: TypeAlias = Literal["chat", "server"]
"""What guesses are made of: the chat alone, or earlier replies of the same server as well."""

# Twice what a step holds that is interactive at most servers.
MOST_DRAFTS = 31


def drafts_of(value: object) -> Drafts:
    """``value`` as a program or a person gives it. Raises InvalidSamplingParameter."""
    if value in ("auto", "off"):
        return cast(Drafts, value)
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if text.isdecimal() and text.isascii() and len(text) <= 2 and 1 <= int(text) <= MOST_DRAFTS:
        return int(text)
    raise InvalidSamplingParameter(
        "drafts", value if isinstance(value, int) else str(value)[:40], allowed=_ALLOWED
    )


def draft_memory_of(value: object) -> DraftMemory:
    """``value`` as a program or a person gives it. Raises InvalidSamplingParameter."""
    if value in get_args(DraftMemory):
        return cast(DraftMemory, value)
    raise InvalidSamplingParameter("draft_memory", str(value)[:40], "chat or server")


_ALLOWED = f"auto, off, or a whole number in 1..{MOST_DRAFTS}"
