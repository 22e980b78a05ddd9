"""The channel between the thread that makes events and the coroutine that sends them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from split_client.errors import Cancelled
from split_server.compat.events import EventChannel, SlowReader
from tests.engines import run


def channel(size: int = 2, patience: float = 20.0) -> EventChannel[int]:
    loop = asyncio.get_running_loop()
    return EventChannel(loop, size, threading.Event(), patience)


def test_events_arrive_in_order_and_the_reader_sees_the_end() -> None:
    async def main() -> list[int]:
        events = channel()

        def write() -> None:
            for number in range(20):
                events.put(number)
            events.end()

        threading.Thread(target=write).start()
        return [event async for event in events.read()]

    assert run(main()) == list(range(20))


def test_the_writer_runs_ahead_by_no_more_than_the_size() -> None:
    async def main() -> None:
        events, written = channel(size=3), list[int]()

        def write() -> None:
            for number in range(10):
                events.put(number)
                written.append(number)
            events.end()

        threading.Thread(target=write).start()
        read = 0
        async for _ in events.read():
            read += 1
            # The event at hand still has its place.
            assert len(written) < read + 3
        assert read == 10

    run(main())


def test_an_error_reaches_the_reader_after_the_events_before_it() -> None:
    async def main() -> None:
        events, seen = channel(), list[int]()
        events.put(1)
        events.end(ValueError("broken"))

        async def read() -> None:
            async for event in events.read():
                seen.append(event)

        with pytest.raises(ValueError, match="broken"):
            await read()
        assert seen == [1]

    run(main())


def test_a_writer_whose_reader_is_gone_is_told() -> None:
    async def main() -> None:
        events = channel(size=1)
        events.put(1)
        events.cancel()
        with pytest.raises(Cancelled):
            await asyncio.to_thread(events.put, 2)

    run(main())


def test_a_reader_that_takes_nothing_is_not_waited_for_without_end() -> None:
    async def main() -> None:
        events = channel(size=1, patience=0.01)
        events.put(1)
        with pytest.raises(SlowReader):
            await asyncio.to_thread(events.put, 2)

    run(main())
