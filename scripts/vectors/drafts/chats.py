"""Whole replies: what is guessed and sent, step by step, at a given cost of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.vectors.drafts.texts import Numbers, edited, prose, records
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import StepCost
from split_client.generation.speculation.memo import Memo

_MOST = 15
_HEAD = 0.0078125


def build() -> list[dict[str, Any]]:
    """Cases by name. A step of n rows takes ``fixed`` + n * ``row`` seconds."""
    numbers = Numbers(2)
    text, strange = prose(numbers, 200), prose(numbers, 260)
    copy, listed = edited(numbers, text), records(numbers, 14)
    again = [{"prompt": [1, 2, 3], "reply": text[:80]}, {"prompt": [1, 2, 4], "reply": copy[:80]}]
    return [
        _case("a copy with edits, far away", [{"prompt": text, "reply": copy}], 0.0625, 1 / 1024),
        _case("a copy with edits, dear rows", [{"prompt": text, "reply": copy}], 1 / 128, 1 / 64),
        _case("prose", [{"prompt": strange[:60], "reply": strange[60:]}], 0.0625, 1 / 1024),
        _case("records", [{"prompt": listed[:30], "reply": listed[30:]}], 1 / 64, 1 / 1024),
        _case(
            "what is expected", [{"prompt": [7], "reply": copy, "expect": text}], 0.0625, 1 / 1024
        ),
        _case("earlier replies", [*again, *again], 0.03125, 1 / 1024, memo=8192),
        _case("always three", [{"prompt": text, "reply": copy[:90]}], 0.0625, 1 / 1024, fixed=3),
        _case("a form permits six", [{"prompt": text, "reply": copy[:90]}], 0.0625, 0.0, permits=6),
    ]


def _case(
    name: str,
    replies: list[dict[str, Any]],
    step: float,
    row: float,
    memo: int | None = None,
    fixed: int | None = None,
    permits: int | None = None,
) -> dict[str, Any]:
    drafter = Drafter.of_chat(None if memo is None else Memo(memo), fixed)
    told = [{**one, "steps": _decoded(drafter, one, step, row, permits)} for one in replies]
    asked = {"fixed_seconds": step, "row_seconds": row, "head_seconds": _HEAD, "most": _MOST}
    return {
        "name": name,
        **asked,
        "memo_bytes": memo,
        "count": fixed,
        "permits": permits,
        "replies": told,
    }


def _decoded(
    drafter: Drafter, one: dict[str, Any], step: float, row: float, permits: int | None
) -> list[list[Any]]:
    """[source, match, tokens drafted, of them chosen] of each step."""
    prompt, reply, steps, done = one["prompt"], one["reply"], [], 0
    drafter.expect(one.get("expect"))
    permitted: Callable[[list[int]], int] | None = None
    if permits is not None:
        permitted = lambda draft: min(permits, len(draft))  # noqa: E731
    while done < len(reply):
        most = min(_MOST, len(reply) - done - 1)
        draft = drafter.draft(prompt + reply[:done], most, permitted)
        count, accepted = len(draft.tokens), 0
        rows, returned = 1 + count, 1 + count
        drafter.stepped(StepCost(rows, returned, step + row * rows, row * rows, 0.0))
        while accepted < count and draft.tokens[accepted] == reply[done + accepted]:
            accepted += 1
        if count:
            drafter.judged(draft, accepted)
        for _ in range(accepted + 1):
            drafter.head(_HEAD)
        done += accepted + 1
        steps.append([draft.source, draft.match, count, accepted])
    drafter.replied(prompt, reply)
    return steps
