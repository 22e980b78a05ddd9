"""Rows are no better than what they stand on, and better again once that is cut off."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from split_server.kv.cache import KVCache
from split_server.kv.lineage import Lineage, is_worse, tiers_to
from split_wire.tiers import ALL_EXACT, TIERS, Inexact, Tier, worse

_MOST = 40
_MARKS = st.tuples(st.sampled_from(TIERS), st.integers(0, _MOST), st.integers(0, 5))


@given(st.lists(_MARKS, max_size=12))
def test_it_tells_what_a_list_of_the_tiers_of_all_rows_tells(
    changes: list[tuple[Tier, int, int]],
) -> None:
    lineage, rows = Lineage(), list[Tier]()
    for tier, kept, taken in changes:
        kept = min(kept, len(rows))
        lineage.cut(kept)
        del rows[kept:]
        if taken:
            lineage.took_in(tier, kept)
            base = rows[-1] if rows else "exact"
            rows += [worse(base, tier)] * taken
        # What is computed on top has the lineage of what is there.
        rows += [rows[-1] if rows else "exact"] * 2
        assert lineage.tier == rows[-1]
        assert lineage.inexact(len(rows)) == Inexact(rows.count("int8"), rows.count("approximate"))


def test_a_cache_that_is_cut_below_the_first_such_row_is_exact_again() -> None:
    cache = KVCache()
    rows = torch.zeros(1, 1, 10, 2)
    cache.layer(0).append(rows, rows)
    cache.grown_to(10)
    cache.lineage.took_in("int8", 4)
    assert cache.lineage.inexact(10) == Inexact(6)
    cache.truncate(5)
    assert cache.lineage.tier == "int8"
    cache.truncate(4)
    assert cache.lineage.tier == "exact"
    assert cache.lineage.inexact(4) is ALL_EXACT


def test_a_cache_that_is_cropped_or_given_back_forgets_it() -> None:
    for end in (lambda cache: cache.crop(-8), lambda cache: cache.release()):
        cache = KVCache()
        rows = torch.zeros(1, 1, 10, 2)
        cache.layer(0).append(rows, rows)
        cache.grown_to(10)
        cache.lineage.took_in("approximate", 3)
        end(cache)
        assert cache.lineage.tier == "exact"


def test_tiers_are_in_the_order_of_their_errors() -> None:
    assert tiers_to("int8") == ("exact", "int8")
    assert is_worse("approximate", "int8")
    assert not is_worse("int8", "int8")


def test_rows_of_another_place_are_approximate_until_they_are_cut_off() -> None:
    lineage = Lineage()
    lineage.took_in("int8", 2)
    lineage.moved_behind(5)
    lineage.moved_behind(9)
    assert lineage.moved
    assert lineage.inexact(12) == Inexact(3, 7)
    lineage.cut(6)
    assert lineage.moved
    lineage.cut(5)
    assert not lineage.moved
    assert lineage.inexact(5) == Inexact(3)
