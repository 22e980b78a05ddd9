"""Histograms against a count by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_server.metrics.histogram import Histogram


def test_a_value_on_a_bound_belongs_to_its_bucket() -> None:
    histogram = Histogram((0.5, 1, 2))
    for value in (0.5, 1.0, 1.5, 7.0):
        histogram.observe(value)
    assert histogram.cumulative() == [("0.5", 1), ("1", 2), ("2", 3), ("+Inf", 4)]
    assert histogram.total == 10.0


@given(st.lists(st.integers(0, 50)), st.sets(st.integers(0, 50), min_size=1))
def test_each_bucket_counts_the_values_up_to_its_bound(values: list[int], bounds: set[int]) -> None:
    histogram = Histogram(sorted(bounds))
    for value in values:
        histogram.observe(value)
    for name, count in histogram.cumulative():
        assert count == sum(value <= float(name) for value in values)
    assert histogram.total == sum(values)
