"""The most tokens that a round trip could bring with guesses from what was said.

At every step the place is taken whose continuation is right the longest, among all places of the
texts at hand whose last token is the newest one. Nobody can know it beforehand: a bound for every
way to choose one. Only a copy that is resumed behind a change, where the newest token is another
one, can go a little beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LONGEST = 15


def tokens_a_step(
    turns: Iterable[tuple[Sequence[int], Sequence[int]]], earlier: Iterable[Sequence[int]] = ()
) -> float:
    """Of prompts and replies; ``earlier``: texts that may be guessed from as well."""
    others = [list(text) for text in earlier]
    steps = tokens = 0
    for prompt, reply in turns:
        said = [*prompt, *reply]
        places = _places(said, others)
        at = len(prompt)
        while at < len(said):
            at += 1 + _longest(said, at, places.get(said[at - 1], ()))
            steps += 1
        tokens += len(reply)
    return tokens / steps


def _places(said: list[int], others: list[list[int]]) -> dict[int, list[tuple[list[int], int]]]:
    places: dict[int, list[tuple[list[int], int]]] = {}
    for text in (said, *others):
        for at, token in enumerate(text[:-1]):
            places.setdefault(token, []).append((text, at + 1))
    return places


def _longest(said: list[int], at: int, places: Iterable[tuple[list[int], int]]) -> int:
    """How many tokens of ``said`` from ``at`` on one of ``places`` has right, of 15 at most."""
    return max((_right(said, at, text, place) for text, place in places), default=0)


def _right(said: list[int], at: int, text: list[int], place: int) -> int:
    # Of this very text only what came before is known.
    end = at if text is said else len(text)
    count = 0
    while (
        count < LONGEST
        and place + count < end
        and at + count < len(said)
        and text[place + count] == said[at + count]
    ):
        count += 1
    return count
