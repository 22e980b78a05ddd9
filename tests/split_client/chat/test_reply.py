from __future__ import annotations

from collections.abc import Iterator

from split_client.chat.reply import Reply
from split_client.generation.loop import Event, Finished, TokenEvent, TokenTiming
from split_client.transport.base import Traffic

TIMING = TokenTiming(0.1, 0.0, 0.0, 0.0)


def two_words() -> Iterator[Event]:
    yield TokenEvent(1, "one ", 1.0, 3, TIMING)
    yield TokenEvent(2, "two", 1.0, 1, TIMING)
    yield Finished("eos", "!")


def test_the_text_of_a_reply_that_nobody_read_is_read() -> None:
    reply = Reply(two_words(), 3, Traffic())
    assert (reply.text, reply.finish_reason) == ("one two!", "eos")
    assert reply.token_ids == [1, 2]


def test_the_text_of_a_reply_that_somebody_reads_is_the_text_so_far() -> None:
    reply = Reply(two_words(), 3, Traffic())
    for piece in reply:
        assert (piece, reply.text) == ("one ", "one ")
        break
    assert reply.read() == reply.text == "one two!"


def test_what_was_sent_is_counted_from_the_first_token_that_needed_a_step() -> None:
    fast, slow = TokenTiming(0.001, 0.0, 0.0, 0.0), TokenTiming(0.5, 0.1, 0.0, 0.3)
    events = [
        TokenEvent(1, "{", 1.0, 0, fast, forced=True),
        TokenEvent(2, "a", 1.0, 9, slow, prompt_rows=6, drafted=2),
        TokenEvent(3, "b", 1.0, 0, fast, guessed=True),
        TokenEvent(4, "c", 1.0, 2, TokenTiming(0.099, 0, 0, 0)),
        Finished("eos", ""),
    ]
    reply = Reply(iter(events), 6, Traffic())
    reply.read()
    stats = reply.stats
    assert (stats.prompt_sent, stats.rows_sent, stats.ttft) == (6, 11, 0.001)
    assert (stats.drafted, stats.accepted, stats.forced) == (2, 1, 1)
    # Not the prompt's step: two tokens in 0.1 s.
    assert round(stats.tokens_per_second) == 20


def test_forced_tokens_that_were_restored_are_none_of_the_prompt() -> None:
    forced = TokenEvent(1, "{", 1.0, 0, TokenTiming(0.001, 0, 0, 0), forced=True)
    events = [forced] * 5 + [TokenEvent(2, "a", 1.0, 1, TokenTiming(0.1, 0, 0, 0), restored=44)]
    reply = Reply(iter([*events, Finished("eos", "")]), 40, Traffic())
    reply.read()
    assert (reply.stats.prompt_sent, reply.stats.prompt_restored) == (0, 40)


def test_a_reply_that_one_step_brought_has_no_speed() -> None:
    fast, slow = TokenTiming(0.0001, 0.0, 0.0, 0.0), TokenTiming(0.5, 0.1, 0.0, 0.3)
    events = [TokenEvent(1, "n", 1.0, 9, slow), TokenEvent(2, "o", 1.0, 0, fast, forced=True)]
    reply = Reply(iter([*events, Finished("eos", "")]), 6, Traffic())
    reply.read()
    assert reply.stats.tokens_per_second == 0
