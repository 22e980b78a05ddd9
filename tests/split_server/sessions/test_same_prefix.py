"""Steps that need the same prefix at the same time: one computes it, the others take it in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from split_server.engine.job import Outcome, StepJob
from split_server.engine.observer import StepObserver
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_wire.codec import encode_message
from split_wire.messages import Close
from tests import oracle
from tests.engines import Device, HeldRunner, TinySessions, serving, tiny_backbone

COMMON = [11 + i % 60 for i in range(128)]
COUNT = 3


class Counting(HeldRunner):
    """Runs once ``open`` is set; counts the rows of its passes and lets ``fail`` name those that
    fail.
    """

    def __init__(self, backbone: Any) -> None:
        super().__init__(backbone)
        self.open, self.busy = threading.Event(), threading.Event()
        self.rows = self.passes = 0
        self.fail: Callable[[int], bool] = lambda _: False

    def run(self, slices: Any) -> Any:
        self.busy.set()
        assert self.open.wait(60)
        self.passes += 1
        if self.fail(self.passes):
            raise RuntimeError("this pass fails")
        self.rows += sum(part.rows for part in slices)
        self.gate.release()
        return super().run(slices)


class Queue(StepObserver):
    """How many steps were posted."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = asyncio.Event()

    def posted(self) -> None:
        self._count += 1
        self._changed.set()

    async def reached(self, count: int) -> None:
        """Return once ``count`` steps were posted."""
        async with asyncio.timeout(60):
            while self._count < count:
                self._changed.clear()
                await self._changed.wait()


class Same:
    """A service whose model waits until all steps of the test are queued."""

    def __init__(self, path: Path, reuse: Reuse | None) -> None:
        backbone = tiny_backbone(path)
        self.path, self.reuse = path, reuse
        self.runner, self.queue = Counting(backbone), Queue()
        self.options = {"backbone": backbone, "runner": self.runner, "reuse": reuse}

    @property
    def rows(self) -> int:
        """Rows that were computed, without the one that keeps the model busy."""
        return self.runner.rows - 1

    async def together(
        self,
        service: TinySessions,
        work: Sequence[Callable[[], Awaitable[Any]]],
        meanwhile: Callable[[], Awaitable[Any]] | None = None,
    ) -> list[Any]:
        """Begin ``work``, a step each, in its order, behind a pass that ends when all are queued
        and ``meanwhile`` is done.
        """
        busy = await Device(service, self.path, "somebody else").open()
        tasks = [asyncio.ensure_future(busy.step(0, [1]))]
        await asyncio.to_thread(self.runner.busy.wait, 60)
        for number, one in enumerate(work):
            tasks.append(asyncio.ensure_future(one()))
            await self.queue.reached(number + 2)
        try:
            if meanwhile is not None:
                await meanwhile()
        finally:
            self.runner.open.set()
        return (await asyncio.gather(*tasks, return_exceptions=True))[1:]


def reuse(**limits: Any) -> Reuse:
    return Reuse(RunPool(PoolLimits(**limits)), Namespaces("of the test"))


def prompts(count: int, tail: int = 20) -> list[list[int]]:
    return [[*COMMON, *(20 + number + at % 30 for at in range(tail))] for number in range(count)]


async def opened(service: TinySessions, path: Path, count: int, **options: Any) -> list[Device]:
    return [await Device(service, path, **options).open() for _ in range(count)]


async def closed(service: TinySessions, device: Device) -> None:
    """Close a session while its step is under way."""
    opened = device.protocol.opened
    assert opened is not None
    await service.handle(device.principal, encode_message(Close(opened.session)))


def test_eight_at_once_compute_their_common_prefix_once(family_path: Path) -> None:
    same = Same(family_path, reuse())
    texts = prompts(8)

    async def scenario() -> list[list[int]]:
        async with serving(family_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, family_path, 8)
            steps = [
                lambda device=device, text=text: device.greedy(text, COUNT)
                for device, text in zip(devices, texts, strict=True)
            ]
            return await same.together(service, steps)

    replies = asyncio.run(scenario())
    assert replies == [oracle.greedy(family_path, text, COUNT) for text in texts]
    # Each decodes two tokens more than it was given the state for.
    assert same.rows == len(COMMON) + 8 * (20 + COUNT - 1)
    assert same.reuse is not None
    assert same.reuse.taken["waited"] == 7 * len(COMMON)


def test_the_same_text_is_computed_once_but_for_its_last_row(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse())

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 3)
            return await same.together(
                service, [lambda device=device: device.step(0, COMMON) for device in devices]
            )

    first, *others = asyncio.run(scenario())
    assert same.rows == len(COMMON) + 2
    assert all(abs(other.hidden - first.hidden).max() < 1e-5 for other in others)


@pytest.mark.parametrize("other", [{"principal": "bob"}, {"salt": "s"}, {"cache": "off"}])
def test_nobody_waits_for_others_than_its_own(tiny_path: Path, other: dict[str, Any]) -> None:
    same = Same(tiny_path, reuse())

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 1)
            devices += await opened(service, tiny_path, 1, **other)
            return await same.together(
                service, [lambda device=device: device.step(0, COMMON) for device in devices]
            )

    asyncio.run(scenario())
    assert same.rows == 2 * len(COMMON)


def test_when_the_one_that_computes_fails_the_next_one_does(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse())
    texts = prompts(3)
    same.runner.fail = lambda passes: passes == 2

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 3)
            steps = [
                lambda device=device, text=text: device.greedy(text, COUNT)
                for device, text in zip(devices, texts, strict=True)
            ]
            return await same.together(service, steps)

    failed, *replies = asyncio.run(scenario())
    assert isinstance(failed, AssertionError)
    assert replies == [oracle.greedy(tiny_path, text, COUNT) for text in texts[1:]]
    assert same.rows == len(COMMON) + 2 * (20 + COUNT - 1)


def test_when_the_one_that_computes_is_closed_the_next_one_does(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse())
    texts = prompts(3)

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 3)
            steps: list[Callable[[], Awaitable[Any]]] = [
                lambda device=device, text=text: device.greedy(text, COUNT)
                for device, text in zip(devices, texts, strict=True)
            ]
            return await same.together(service, steps, lambda: closed(service, devices[0]))

    gone, *replies = asyncio.run(scenario())
    assert isinstance(gone, AssertionError)
    assert replies == [oracle.greedy(tiny_path, text, COUNT) for text in texts[1:]]


def test_one_that_waits_and_is_closed_holds_nobody_up(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse())

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 3)
            steps = [lambda device=device: device.step(0, COMMON) for device in devices]
            return await same.together(service, steps, lambda: closed(service, devices[1]))

    first, gone, last = asyncio.run(scenario())
    assert isinstance(gone, AssertionError)
    assert abs(first.hidden - last.hidden).max() < 1e-5
    assert same.rows == len(COMMON) + 1


def test_a_pool_that_keeps_nothing_has_each_compute_its_own(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse(total=1))
    texts = prompts(3)

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            devices = await opened(service, tiny_path, 3)
            steps = [
                lambda device=device, text=text: device.greedy(text, COUNT)
                for device, text in zip(devices, texts, strict=True)
            ]
            return await same.together(service, steps)

    replies = asyncio.run(scenario())
    assert replies == [oracle.greedy(tiny_path, text, COUNT) for text in texts]
    assert same.rows == 3 * (len(COMMON) + 20 + COUNT - 1)


def test_a_step_that_shares_the_beginning_of_a_long_one_is_answered_first(tiny_path: Path) -> None:
    same = Same(tiny_path, reuse())
    long = [*COMMON, *COMMON, *(3 + at % 70 for at in range(240))]
    ended: list[int] = []

    class Ends(Queue):
        def ended(self, job: StepJob, queued_at: float, outcome: Outcome) -> None:
            del queued_at, outcome
            ended.append(job.embeddings.rows)

    same.queue = Ends()

    async def scenario() -> list[Any]:
        async with serving(tiny_path, **same.options) as service:
            service.steps.observe(same.queue)
            first, second = await opened(service, tiny_path, 2)
            return await same.together(
                service,
                [lambda: first.step(0, long), lambda: second.greedy([*COMMON, 5, 6], COUNT)],
            )

    _, reply = asyncio.run(scenario())
    assert reply == oracle.greedy(tiny_path, [*COMMON, 5, 6], COUNT)
    # The long one takes a second pass.
    assert ended[1] == len(COMMON) + 2
    assert same.rows == len(long) + 2 + COUNT - 1
