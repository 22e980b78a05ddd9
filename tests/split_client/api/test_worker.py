from __future__ import annotations

import asyncio
import threading

import pytest

from split_client.api.worker import Worker


class Waiting:
    """Work that waits until it is interrupted."""

    def __init__(self) -> None:
        self.begun, self.interrupted = threading.Event(), threading.Event()
        self.worker = Worker(self.interrupted.clear, self.interrupted.set)

    def work(self) -> str:
        self.begun.set()
        assert self.interrupted.wait(20)
        return "ended"


async def until(begun: threading.Event) -> None:
    assert await asyncio.to_thread(begun.wait, 20)


def test_jobs_have_one_thread_and_their_order() -> None:
    async def program() -> list[tuple[int, str]]:
        worker = Worker(lambda: None, lambda: None)
        jobs = [lambda n=n: (n, threading.current_thread().name) for n in range(4)]
        done = await asyncio.gather(*(worker.run(job) for job in jobs))
        worker.close()
        return done

    assert asyncio.run(program()) == [(n, "split-client") for n in range(4)]


def test_errors_come_to_whoever_awaits() -> None:
    async def program() -> None:
        worker = Worker(lambda: None, lambda: None)
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda: 1 // 0)
        worker.close()
        assert await worker.run(lambda: 5) == 5
        worker.close()

    asyncio.run(program())


def test_a_task_that_is_cancelled_interrupts_its_own_job_alone() -> None:
    async def program() -> str:
        waiting = Waiting()
        task = asyncio.create_task(waiting.worker.run(waiting.work))
        await until(waiting.begun)
        behind = asyncio.create_task(waiting.worker.run(lambda: "not begun"))
        await asyncio.sleep(0)
        behind.cancel()
        with pytest.raises(asyncio.CancelledError):
            await behind
        assert not waiting.interrupted.is_set()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiting.interrupted.is_set()
        following = await waiting.worker.run(lambda: str(waiting.interrupted.is_set()))
        waiting.worker.close()
        return following

    assert asyncio.run(program()) == "False"


def test_what_runs_can_be_interrupted_from_outside() -> None:
    async def program() -> str:
        waiting = Waiting()
        waiting.worker.interrupt()
        task = asyncio.create_task(waiting.worker.run(waiting.work))
        await until(waiting.begun)
        waiting.worker.interrupt()
        ended = await task
        waiting.worker.close()
        return ended

    assert asyncio.run(program()) == "ended"
