"""The table of the benchmark of the web app's LM head, without a browser."""

from __future__ import annotations

from scripts.bench.web.head import LOOP, Timed, least


def test_a_kernel_counts_with_the_rounds_that_took_it() -> None:
    rounds = [
        {(LOOP, "head"): Timed(9.0, 8.0), ("simd, 1 worker", "head"): Timed(3.0, 3.0)},
        {(LOOP, "head"): Timed(8.0, 9.0), ("relaxed, 1 worker", "head"): Timed(2.0, 1.0)},
        {(LOOP, "head"): Timed(9.5, 9.5), ("relaxed, 1 worker", "head"): Timed(1.0, 2.0)},
    ]
    assert least(rounds) == {
        (LOOP, "head"): (8.0, 8.0),
        ("simd, 1 worker", "head"): (3.0, 3.0),
        ("relaxed, 1 worker", "head"): (1.0, 1.0),
    }
