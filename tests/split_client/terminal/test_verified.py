"""What is said of approximate replies that were computed plainly as well."""

from __future__ import annotations

from split_client.api import Record, Verified
from split_client.terminal.verified import record_lines, verified_line


def test_a_reply_that_is_near_is_told_with_how_near() -> None:
    assert verified_line(Verified(24, 0.00123, 0.02, None)) == (
        "verified: KL 0.001 nats a token, 0.02 at most, the same 24 tokens likeliest"
    )


def test_a_reply_that_goes_another_way_is_told_from_where_on() -> None:
    assert verified_line(Verified(24, 0.1, 0.9, 4)) == (
        "verified: KL 0.1 nats a token, 0.9 at most, another token likeliest from 5 of 24 on"
    )


def test_what_is_too_far_off_says_what_comes_of_it() -> None:
    assert verified_line(Verified(1, 9.0, 9.0, 0)).endswith(
        "; that is too far off, so the next reply is computed as a whole"
    )


def test_all_replies_are_counted_once_there_is_one() -> None:
    assert record_lines(Record()) == []
    assert record_lines(Record(passed=3)) == ["verified replies: 3 near, 0 too far off"]
    record = Record(1, 0, 2)
    for way in ("moved", "documents"):
        for _ in range(3):
            record.take(Verified(1, 9.0, 9.0, 0), {way})  # type: ignore[arg-type]
    assert record_lines(record) == [
        "verified replies: 1 near, 6 too far off, 2 could not be; nothing is moved behind edits "
        "any more; nothing of other texts is taken any more"
    ]
