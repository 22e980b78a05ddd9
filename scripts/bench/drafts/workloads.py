"""Replies of made-up ids, from those that drafts fit to those that mislead them."""

from __future__ import annotations

from typing import TypeAlias

from scripts.vectors.drafts.texts import Numbers, edited, prose, records

Workload: TypeAlias = tuple[list[int], list[int]]


def workloads(count: int) -> dict[str, Workload]:
    """Replies of ``count`` tokens to their prompts, by name; the same at every call."""
    numbers = Numbers(7)
    text = prose(numbers, count + 150)
    strange = prose(numbers, count + 400, 300)
    return {
        "copy with edits": (text, edited(numbers, text, 40)[:count]),
        "records": ([1], records(numbers, count // 12)[:count]),
        "prose without a repeat": (strange[:400], strange[400:]),
        "random tokens of few": (numbers.ids(300, 12), numbers.ids(count, 12)),
        "right at first, then wrong": (text, text[:150] + numbers.ids(count - 150, 40)),
        "right in parts": (text, _parts(numbers, text, count)),
        "the same context, another token": ([1, 2, 3, 4, 99], _other_tokens(count)),
        "runs": ([1], _runs(numbers, count)),
    }


def _parts(numbers: Numbers, text: list[int], count: int) -> list[int]:
    out = list[int]()
    while len(out) < count:
        at = numbers.below(count)
        out += text[at : at + 5] + numbers.ids(15, 40)
    return out[:count]


def _other_tokens(count: int) -> list[int]:
    return [token for index in range(count // 5) for token in (1, 2, 3, 4, 100 + index)]


def _runs(numbers: Numbers, count: int) -> list[int]:
    out = list[int]()
    while len(out) < count:
        out += [numbers.below(30)] * (1 + numbers.below(12))
    return out[:count]
