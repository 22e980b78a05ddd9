"""Threads of a room: work off the event loop that keeps nobody else, and no end, waiting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from split_server.threads import Threads
from split_wire.errors import Overloaded, ShuttingDown
from tests.engines import run
from tests.patience import PATIENCE

_NUMBER: ContextVar[int] = ContextVar("number", default=0)


def test_work_is_done_on_a_thread_of_the_rooms_own_in_the_callers_context() -> None:
    async def main() -> tuple[str, int]:
        threads = Threads("room", 1)
        _NUMBER.set(7)
        found = await threads.run(lambda: (threading.current_thread().name, _NUMBER.get()))
        threads.close()
        return found

    assert run(main()) == ("room-0", 7)


def test_what_work_raises_reaches_its_caller_and_the_thread_goes_on() -> None:
    async def main() -> int:
        threads = Threads("room", 1)
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0)
        return await threads.run(lambda: 3)

    assert run(main()) == 3


def test_as_many_threads_as_there_is_work_for_and_no_more_than_are_allowed() -> None:
    async def main() -> set[str]:
        threads, both = Threads("room", 2), threading.Barrier(2)

        def met() -> str:
            both.wait(PATIENCE)
            return threading.current_thread().name

        names = set(await asyncio.gather(*(threads.run(met) for _ in range(6))))
        threads.close()
        return names

    assert run(main()) == {"room-0", "room-1"}


def test_a_full_queue_is_refused_and_a_closed_room_too() -> None:
    async def main() -> None:
        threads, gate = Threads("room", 1, waiting=1), threading.Event()
        begun, loop = asyncio.Event(), asyncio.get_running_loop()

        def held() -> bool:
            loop.call_soon_threadsafe(begun.set)
            return gate.wait(PATIENCE)

        first = asyncio.ensure_future(threads.run(held))
        await begun.wait()
        second = asyncio.ensure_future(threads.run(lambda: True))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await threads.run(lambda: True)
        threads.close()
        gate.set()
        assert await first
        with pytest.raises(ShuttingDown):
            await second
        with pytest.raises(ShuttingDown):
            await threads.run(lambda: True)

    run(main())


def test_work_whose_caller_left_is_not_begun() -> None:
    async def main() -> list[int]:
        threads, gate, done = Threads("room", 1), threading.Event(), list[int]()
        first = asyncio.ensure_future(threads.run(lambda: gate.wait(PATIENCE)))
        left = asyncio.ensure_future(threads.run(lambda: done.append(1)))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)
        gate.set()
        await first
        await threads.run(lambda: done.append(2))
        return done

    assert run(main()) == [2]


def test_work_that_never_ends_does_not_keep_the_process_from_ending() -> None:
    program = """
import asyncio, threading
from split_server.threads import Threads

async def main():
    begun = threading.Event()
    threads = Threads("room", 1)
    def held():
        begun.set()
        threading.Event().wait()
    asyncio.ensure_future(threads.run(held))
    while not begun.is_set():
        await asyncio.sleep(0)
    threads.close()

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=PATIENCE, check=False)
    assert ended.returncode == 0
