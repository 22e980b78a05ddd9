"""The words in which cases are stated."""

from __future__ import annotations

from typing import Any, Final

from scripts.vectors.decoding.model import END

Turn = dict[str, Any]
Case = dict[str, Any]

# Hot enough that the usual token is often not the one drawn.
HOT: Final[dict[str, Any]] = {"temperature": 2.0, "seed": "5"}


def case(name: str, *turns: Turn, max_rows: int = 8, lost: list[int] | None = None) -> Case:
    session = {"max_rows": max_rows, "max_context": 32, "lost": lost or []}
    return {"name": name, "session": session, "turns": list(turns)}


def turn(prompt: list[int], max_tokens: int = 40, **asked: Any) -> Turn:
    return {"prompt": prompt, "max_tokens": max_tokens, "end_tokens": [END], **asked}


def form(allowed: list[list[int] | None], finished_after: int | None = None) -> dict[str, Any]:
    """Allowed tokens one place after another; None, and what follows the last: every token."""
    return {"allowed": allowed, "finished_after": finished_after}
