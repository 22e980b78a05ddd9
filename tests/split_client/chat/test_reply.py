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
