from __future__ import annotations

from split_client.chat.reply import ReplyStats
from split_client.generation.loop import TokenTiming
from split_client.terminal.tally import Tally
from split_wire.tiers import Inexact


def stats(
    prompt: int, sent: int, restored: int, saved: int = 0, time: float | None = 0.0
) -> ReplyStats:
    return ReplyStats(
        prompt,
        sent,
        prompt - sent - restored,
        restored,
        bytes_saved=saved,
        seconds_saved=time,
        timings=[TokenTiming(0.1, 0.1, 0, 0)],
    )


def test_before_the_first_reply_there_is_nothing_to_tell() -> None:
    tally = Tally()
    tally.take(ReplyStats(100))
    assert tally.lines() == []


def test_the_last_prompt_and_all_of_them_are_told() -> None:
    tally = Tally()
    tally.take(stats(1158, 6, 1152, 2_400_000, 1.6))
    assert tally.lines() == [
        "last prompt: 1,158 tokens, 6 sent, 0 in the session, 1,152 restored, which saved 2.4 MB "
        "and about 1.60 s",
        "last reply: 1 token in 0 round trips, 0 rows sent",
    ]
    tally.take(stats(1200, 30, 0))
    assert tally.lines() == [
        "last prompt: 1,200 tokens, 30 sent, 1,170 in the session, 0 restored",
        "last reply: 1 token in 0 round trips, 0 rows sent",
        "all prompts: 2,358 tokens, 36 sent, 1,170 in the session, 1,152 restored, which saved "
        "2.4 MB and about 1.60 s",
        "all replies: 2 tokens in 0 round trips, 0 rows sent",
    ]


def test_a_time_that_is_not_known_is_not_told() -> None:
    tally = Tally()
    tally.take(stats(100, 4, 96, 1000, None))
    assert tally.lines()[:1] == [
        "last prompt: 100 tokens, 4 sent, 0 in the session, 96 restored, which saved 1.0 kB"
    ]


def test_drafts_and_forced_tokens_are_added_up() -> None:
    tally = Tally()
    for accepted in (30, 5):
        reply = stats(10, 10, 0)
        reply.round_trips, reply.rows_sent, reply.forced = 12, 60, 2
        reply.drafted, reply.accepted = 45, accepted
        tally.take(reply)
    assert tally.lines()[1] == (
        "last reply: 1 token in 12 round trips, 60 rows sent, 5 of 45 drafted right, 2 forced"
    )
    assert tally.lines()[3].endswith("120 rows sent, 35 of 90 drafted right, 4 forced")


def test_what_of_a_prompt_is_not_exact_is_told_by_tier() -> None:
    tally = Tally()
    told = stats(1158, 6, 1152, 2_400_000)
    told.prompt_tiers = Inexact(1100, 52)
    tally.take(told)
    assert tally.lines()[0] == (
        "last prompt: 1,158 tokens, 6 sent, 0 in the session, 1,152 restored "
        "(≈1,100 int8, ≈52 approximate), which saved 2.4 MB"
    )
    tally.take(stats(1200, 1200, 0))
    assert "(≈" not in tally.lines()[0]
    assert "(≈1,100 int8, ≈52 approximate)" in tally.lines()[2]


def test_what_moved_behind_edits_is_told_and_so_are_edits_that_were_not_taken() -> None:
    tally = Tally()
    moved, refused = stats(1000, 60, 0), stats(1000, 900, 0)
    moved.prompt_tiers, moved.prompt_moved, moved.prompt_mended = Inexact(0, 800), 800, 20
    refused.edits_refused = 1
    tally.take(moved)
    tally.take(refused)
    assert tally.lines()[0].endswith(", 0 restored, 1 edit not taken by the server")
    assert tally.lines()[2].endswith(
        "0 restored (≈800 approximate), 800 moved behind edits and 20 computed anew for it, "
        "1 edit not taken by the server"
    )


def test_what_was_known_from_other_texts_is_told_apart_from_what_moved_behind_edits() -> None:
    tally, both = Tally(), stats(1000, 60, 0)
    both.prompt_moved, both.prompt_documents, both.prompt_mended = 800, 500, 20
    tally.take(both)
    assert (
        ", 300 moved behind edits, 500 known from other texts and 20 computed anew"
        in (tally.lines()[0])
    )
