"""The one admission of steps, over a real engine: every kind of session passes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from split_server.engine.job import Abandoned, Outcome
from split_server.memory.budget import BudgetLimits
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.session import Session
from split_wire.attention import AttentionRequest
from split_wire.digest import PrefixChain
from split_wire.errors import (
    CacheFull,
    ContextOverflow,
    Overloaded,
    ShuttingDown,
    SplitError,
    UnknownAdapter,
)
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import (
    MANIFEST,
    Device,
    HeldRunner,
    TinySessions,
    run,
    serving,
    tiny_backbone,
)

PROMPT = list(range(11, 31))


def rows(path: Path, ids: list[int]) -> Tensor:
    return Tensor.from_f32(oracle.embeddings(path, ids).numpy(), "f32")


def chain_of(path: Path, ids: list[int]) -> list[bytes]:
    """The chain over ``ids`` as a device computes it."""
    return PrefixChain(MANIFEST).following(0, rows(path, ids))


def assert_named(session: Session, digests: list[bytes]) -> None:
    assert session.cache.length == len(session.chain) == len(digests)
    assert [session.chain.at(place + 1) for place in range(len(digests))] == digests


def only_session(service: TinySessions) -> Session:
    [session] = service.store._all()
    return session


async def in_process(
    service: TinySessions,
    session: Session,
    request: StepRequest,
    wanted: Callable[[], bool] = lambda: True,
) -> Outcome:
    """The outcome of one step of a client in this process."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Outcome] = loop.create_future()

    def done(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(answer.set_result, outcome)

    service.in_process.begin(session, request, done, wanted)
    return await answer


def test_the_chain_of_a_framed_session_names_its_cache(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT)
            await device.step(7, [3, 4])
            assert_named(only_session(service), chain_of(tiny_path, [*PROMPT[:7], 3, 4]))

    run(scenario())


def test_the_chain_of_a_session_in_this_process_names_its_cache(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            session = await service.in_process.opened("local")
            for start, ids in ((0, PROMPT), (7, [3, 4])):
                request = service.in_process.request(session, start, rows(tiny_path, ids))
                assert not isinstance(await in_process(service, session, request), Exception)
            assert_named(session, chain_of(tiny_path, [*PROMPT[:7], 3, 4]))

    run(scenario())


@pytest.mark.parametrize("max_rows", [4, 512])
def test_the_chain_of_a_session_of_the_original_protocol_names_its_cache(
    tiny_path: Path, max_rows: int
) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, max_rows=max_rows) as service:
            await service.original.append("local", "chat", rows(tiny_path, PROMPT), False)
            await service.original.append("local", "chat", rows(tiny_path, [3]), True)
            assert_named(only_session(service), chain_of(tiny_path, [*PROMPT, 3]))

    run(scenario())


def test_the_chain_is_up_to_date_when_whoever_waits_is_told(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            session = await service.in_process.opened("local")
            seen: list[int] = []
            request = service.in_process.request(session, 0, rows(tiny_path, PROMPT))
            loop = asyncio.get_running_loop()
            told = asyncio.Event()

            def done(_: Outcome) -> None:
                seen.append(len(session.chain))
                loop.call_soon_threadsafe(told.set)

            service.in_process.begin(session, request, done, lambda: True)
            await told.wait()
            assert seen == [len(PROMPT)]

    run(scenario())


def test_a_step_that_fails_leaves_a_chain_that_names_what_is_left(tiny_path: Path) -> None:
    async def scenario() -> None:
        backbone = tiny_backbone(tiny_path)
        async with serving(tiny_path, backbone=backbone) as service:
            session = await service.in_process.opened("local")
            first = service.in_process.request(session, 0, rows(tiny_path, PROMPT))
            await in_process(service, session, first)
            second = service.in_process.request(session, 5, rows(tiny_path, [3]))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(backbone.module, "forward", lambda **_: 1 / 0)
                assert isinstance(await in_process(service, session, second), ZeroDivisionError)
            assert_named(session, chain_of(tiny_path, PROMPT[:5]))

    run(scenario())


def test_a_step_that_nobody_wants_any_more_leaves_cache_and_chain(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            session = await service.in_process.opened("local")
            first = service.in_process.request(session, 0, rows(tiny_path, PROMPT))
            await in_process(service, session, first)
            second = service.in_process.request(session, 5, rows(tiny_path, [3]))
            outcome = await in_process(service, session, second, lambda: False)
            assert isinstance(outcome, Abandoned)
            assert_named(session, chain_of(tiny_path, PROMPT))

    run(scenario())


def test_while_it_stops_no_kind_of_session_gets_anything(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            session = await service.in_process.opened("local")
            device = await Device(service, tiny_path).open()
            request = service.in_process.request(session, 0, rows(tiny_path, PROMPT))
            service.steps._stopping = True
            with pytest.raises(ShuttingDown):
                await service.in_process.opened("local")
            with pytest.raises(ShuttingDown):
                service.in_process.begin(session, request, lambda _: None, lambda: True)
            with pytest.raises(ShuttingDown):
                await service.original.append("local", "chat", rows(tiny_path, PROMPT), False)
            answer = await service.handle("local", device.frame(0, PROMPT))
            assert answer.error is not None
            assert answer.error.code == "shutting_down"

    run(scenario())


def test_the_queue_counts_steps_of_every_kind(tiny_path: Path) -> None:
    async def scenario() -> None:
        runner = HeldRunner(tiny_backbone(tiny_path))
        async with serving(tiny_path, runner=runner, max_queued=1) as service:
            device = await Device(service, tiny_path).open()
            under_way = asyncio.create_task(service.handle("local", device.frame(0, PROMPT)))
            await asyncio.to_thread(runner.begun.acquire)
            session = await service.in_process.opened("local")
            request = service.in_process.request(session, 0, rows(tiny_path, PROMPT))
            with pytest.raises(Overloaded):
                service.in_process.begin(session, request, lambda _: None, lambda: True)
            with pytest.raises(Overloaded):
                await service.original.append("local", "chat", rows(tiny_path, PROMPT), False)
            runner.gate.release(9)
            assert (await under_way).error is None

    run(scenario())


@pytest.mark.parametrize(
    ("request_of", "error"),
    [
        (lambda tensor: StepRequest(0, tensor, adapter="nobody's"), UnknownAdapter),
        (lambda tensor: StepRequest(1 << 20, tensor), ContextOverflow),
        (lambda tensor: StepRequest(100, tensor), CacheFull),
        (
            lambda tensor: StepRequest(0, tensor, attention=AttentionRequest(), copies=1 << 20),
            CacheFull,
        ),
    ],
)
def test_a_refused_step_changes_nothing_and_tells_nobody(
    tiny_path: Path, request_of: Callable[[Tensor], StepRequest], error: type[SplitError]
) -> None:
    async def scenario() -> None:
        unit = tiny_backbone(tiny_path).info.kv_bytes_per_position
        async with serving(tiny_path, budget=BudgetLimits(32 * unit), max_queued=1) as service:
            session = service.steps.opening.open("local", "f32")
            told: list[Outcome] = []
            request = request_of(rows(tiny_path, PROMPT))
            for _ in range(3):
                with pytest.raises(error):
                    service.steps.begin(session, request, told.append, done=told.append)
            assert (session.running, session.reserved, session.promised) == (0, 0, 0)
            assert not told

    run(scenario())
