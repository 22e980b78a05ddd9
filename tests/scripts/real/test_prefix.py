"""How far two runs of tokens agree."""

from __future__ import annotations

from scripts.real.measures.prefix import accepted


def test_tokens_are_accepted_up_to_the_first_wrong_one() -> None:
    assert accepted([1, 2, 3], [1, 2, 4, 3]) == 2
    assert accepted([1, 2, 3], [1, 2]) == 2
    assert accepted([], [1]) == 0
