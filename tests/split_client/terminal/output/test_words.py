from __future__ import annotations

import pytest

from split_client.api import ClientStats, MaskStats
from split_client.chat.reply import Reply
from split_client.generation.loop import Finished, TokenEvent, TokenTiming
from split_client.generation.spared import Spared
from split_client.terminal.output.words import (
    counted,
    fewer_drafts_line,
    masks_line,
    seconds,
    size,
    status_line,
    traffic_line,
)
from split_client.transport.base import Traffic
from split_wire.tiers import Inexact


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12345, "12.3 kB"), (5 * 10**9, "5.0 GB")],
)
def test_sizes_are_in_decimal_units(count: int, text: str) -> None:
    assert size(count) == text


def test_times_are_in_milliseconds_below_a_second() -> None:
    assert (seconds(0.0854), seconds(1.236)) == ("85 ms", "1.24 s")


def test_the_status_line_tells_speed_size_and_why_it_ended() -> None:
    traffic = Traffic()
    events = [TokenEvent(token, "a", 1.0, 1, TokenTiming(0.1, 0.05, 0, 0.01)) for token in range(5)]
    reply = Reply(iter([*events, Finished("length", "")]), 3, traffic)
    for _ in reply.events():
        traffic.count(1000, 500)
    assert status_line(reply, 5) == (
        "TTFT 100 ms · 10.0 tok/s · 5 tokens · up 5.0 kB, down 2.5 kB · cut at --max-tokens 5"
    )


def test_a_reply_that_never_came_has_a_line_too() -> None:
    reply = Reply(iter([Finished("cancelled", "")]), 3, Traffic())
    reply.read()
    assert status_line(reply, 5) == "no reply · 0 tokens · up 0 B, down 0 B · stopped"


def test_the_status_line_tells_what_drafts_and_forced_tokens_saved() -> None:
    timing = TokenTiming(0.1, 0.05, 0, 0.01)
    events = [
        TokenEvent(1, "a", 1.0, 9, timing, drafted=3, prompt_rows=6),
        TokenEvent(2, "b", 1.0, 0, timing, guessed=True),
        TokenEvent(3, "c", 1.0, 0, timing, forced=True),
        Finished("eos", ""),
    ]
    reply = Reply(iter(events), 6, traffic := Traffic())
    traffic.count(10, 10)
    reply.read()
    assert "3 tokens in 1 round trip, 1 of 3 drafted right, 1 forced" in status_line(reply, 5)
    assert (reply.stats.prompt_sent, reply.stats.rows_sent) == (6, 9)


def test_a_number_of_drafts_that_no_step_holds_is_told() -> None:
    assert fewer_drafts_line("auto", 15) is fewer_drafts_line(15, 15) is None
    assert "15 tokens at most, not 20" in str(fewer_drafts_line(20, 15))


def test_one_is_not_many() -> None:
    assert [counted(n, "message") for n in range(3)] == ["0 messages", "1 message", "2 messages"]


def test_the_traffic_line_is_true_before_the_first_exchange_too() -> None:
    assert traffic_line(ClientStats(0, 0, 0, None, 0)) == "no exchanges yet"
    assert traffic_line(ClientStats(10, 20, 1, "http", 2)) == (
        "up 10 B, down 20 B in 1 exchange over http, 2 reconnects"
    )


def prompted(held: int, restored: int, inexact: int) -> str:
    """The line under a reply to a prompt of 1,158 tokens, of which so many were there."""
    spared = Spared(held, restored, 0, inexact=Inexact(inexact))
    event = TokenEvent(
        1,
        "a",
        1.0,
        6,
        TokenTiming(0.1, 0.05, 0, 0.01),
        restored=restored,
        spared=spared,
        prompt_rows=1158 - held - restored,
    )
    reply = Reply(iter([event, Finished("eos", "")]), 1158, Traffic())
    reply.read()
    return status_line(reply, 5)


def test_a_sign_says_that_a_reply_stands_on_what_is_not_exact() -> None:
    assert " 1,152 of 1,158 prompt tokens restored" in prompted(0, 1152, 0)
    assert "≈1,152 of 1,158 prompt tokens restored" in prompted(0, 1152, 1152)
    # Also where all of that was in the session already.
    assert "≈1,100 of 1,158 prompt tokens held" in prompted(1140, 0, 1100)
    assert "prompt tokens" not in prompted(1140, 0, 0)


def test_what_an_edit_moved_is_told_before_anything_else_and_so_is_one_that_was_not_taken() -> None:
    reply = Reply(iter(()), 1000, Traffic())
    reply.stats.prompt_moved, reply.stats.prompt_mended = 800, 20
    assert " ≈800 of 1,000 prompt tokens moved, 20 computed anew" in status_line(reply, 24)
    reply.stats.prompt_documents = 300
    told = " ≈800 of 1,000 prompt tokens known from other texts, 20 computed anew"
    assert told in status_line(reply, 24)
    reply.stats.prompt_documents = 0
    reply.stats.prompt_moved, reply.stats.edits_refused = 0, 1
    assert "edit not taken, all behind it computed" in status_line(reply, 24)


def test_the_line_of_masks_tells_what_they_did_and_why_none_is_made() -> None:
    told = masks_line(MaskStats(64, 32, 128, 90, 6, 10, ""))
    assert told == "masks: 90 of 100 tokens had one, 32 ready; 128 made, 6 never used"
    told = masks_line(MaskStats(64, 0, 0, 0, 0, 1, "this host\nmakes none"))
    assert told.startswith("masks: 0 of 1 token had one, 0 ready;")
    assert told.endswith("none is being made: this host makes none")
