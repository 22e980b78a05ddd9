"""All pairs: few cases among which any two levels of any two factors meet."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

_TRIES = 200


def all_pairs(factors: dict[str, Sequence[Any]], seed: int = 0) -> list[dict[str, Any]]:
    """Cases by factor; each is the best of some that were drawn, so they are few and not fewest."""
    draw, names = random.Random(seed), list(factors)  # noqa: S311
    wanted = {
        (left, i, right, j)
        for left, right in itertools.combinations(names, 2)
        for i in range(len(factors[left]))
        for j in range(len(factors[right]))
    }
    cases = []
    while wanted:
        left, i, right, j = min(wanted)
        drawn = [
            {name: draw.randrange(len(factors[name])) for name in names} | {left: i, right: j}
            for _ in range(_TRIES)
        ]
        best = max(drawn, key=lambda case: len(wanted & _met(case, names)))
        wanted -= _met(best, names)
        cases.append({name: factors[name][best[name]] for name in names})
    return cases


def _met(case: dict[str, int], names: list[str]) -> set[tuple[str, int, str, int]]:
    pairs = itertools.combinations(names, 2)
    return {(left, case[left], right, case[right]) for left, right in pairs}
