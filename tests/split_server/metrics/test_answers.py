"""Counts of answers and errors, with a bound on their kinds."""

from __future__ import annotations

from split_server.error_reports import report_error, reporting_errors
from split_server.metrics.answers import AnswerMeter


def test_codes_beyond_the_bound_are_counted_together() -> None:
    meter = AnswerMeter(most_codes=2)
    for code in ("a", "b", "c", "d", "a"):
        meter.refused("http", code)
    assert meter.errors == {("http", "a"): 2, ("http", "b"): 1, ("http", "other"): 2}


def test_errors_are_told_to_the_innermost_listener_alone() -> None:
    outer, inner = AnswerMeter(), AnswerMeter()
    with reporting_errors(outer.refused):
        with reporting_errors(inner.refused):
            report_error("overloaded", "frame")
        report_error("not_found")
    report_error("nobody_hears_it")
    assert inner.errors == {("frame", "overloaded"): 1}
    assert outer.errors == {("http", "not_found"): 1}
