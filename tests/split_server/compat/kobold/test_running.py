"""Samples that run together, and tokens that wait for their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from split_client.generation.loop import Event, Finished, TokenEvent, TokenTiming
from split_server.compat.kobold.pieces import Settling
from split_server.compat.kobold.running import _merged, _whole

TIMING = TokenTiming(0.0, 0.0, 0.0, 0.0)


class Letters:
    """A decoder of one letter per token."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "".join(chr(token) for token in ids)


def token(letter: str, text: str) -> TokenEvent:
    return TokenEvent(ord(letter), text, 1.0, 1, TIMING)


async def listed(events: list[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event


def told(events: list[Event], stops: tuple[str, ...] = ()) -> list[str]:
    async def scenario() -> list[str]:
        whole = _whole(listed(events), frozenset({ord("$")}), Settling(Letters(), stops))
        return [event.text async for event in whole if isinstance(event, TokenEvent)]

    return asyncio.run(scenario())


def test_the_last_token_gets_the_text_that_was_held_back() -> None:
    events = [token("a", "a"), token("b", ""), Finished("length", "b")]
    assert told(events) == ["a", "b"]


def test_text_held_back_before_the_end_token_belongs_to_the_token_before_it() -> None:
    events = [token("a", ""), token("$", ""), Finished("eos", "a")]
    assert told(events) == ["a"]


def test_the_possible_beginning_of_a_stop_string_waits_although_other_text_came() -> None:
    events = [token("a", "a"), token("S", ""), token("$", ""), Finished("eos", "S")]
    assert told(events, ("ST",)) == ["a", "S"]


def test_a_token_waits_for_one_event_only() -> None:
    events = [token("a", ""), token("b", ""), token("c", "abc"), Finished("length", "")]
    assert told(events) == ["", "", "abc"]


async def counted(name: str, count: int, closed: list[str]) -> AsyncGenerator[str, None]:
    try:
        for index in range(count):
            await asyncio.sleep(0)
            yield f"{name}{index}"
    finally:
        closed.append(name)


async def failing() -> AsyncGenerator[str, None]:
    yield "x"
    raise ValueError("the cause")


def run(work: Any) -> Any:
    return asyncio.run(work)


def test_merged_sources_keep_their_order_and_all_end() -> None:
    async def scenario() -> None:
        closed: list[str] = []
        sources = [counted(name, 3, closed) for name in "ab"]
        async with aclosing(_merged(sources)) as items:
            seen = [item async for item in items]
        assert [item for item in seen if item[0] == "a"] == ["a0", "a1", "a2"]
        assert [item for item in seen if item[0] == "b"] == ["b0", "b1", "b2"]
        assert sorted(closed) == ["a", "b"]

    run(scenario())


def test_one_that_fails_ends_the_others() -> None:
    async def scenario() -> None:
        closed: list[str] = []
        async with aclosing(_merged([counted("a", 10**6, closed), failing()])) as items:
            with pytest.raises(ValueError, match="the cause"):
                async for _ in items:
                    pass
        assert closed == ["a"]

    run(scenario())


def test_closing_early_ends_all() -> None:
    async def scenario() -> None:
        closed: list[str] = []
        sources = [counted(name, 10**6, closed) for name in "ab"]
        async with aclosing(_merged(sources)) as items:
            assert (await anext(items))[1:] == "0"
        assert sorted(closed) == ["a", "b"]

    run(scenario())
