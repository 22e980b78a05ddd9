"""Workers that die, hang, eat memory or fail are replaced, and their sessions go on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from split_server.adapter_host.answers import WorkerFailed
from split_server.adapter_host.errors import (
    HostUnusable,
    MalformedKey,
    WorkerLost,
    WorkersSpent,
)
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.messages import Job
from split_wire.errors import UnknownSession
from tests.adapter_hosts import made_adapter, made_host

_DEEDS = "tests.split_server.adapter_host.evaluators:Deeds"
_NONCE = bytes(32)


class Device:
    """One session of the host ``host`` and its numbers."""

    def __init__(self, host: AdapterHost, principal: str = "ada") -> None:
        self.host, self.principal = host, principal
        self.id: bytes = host.open(principal, "made")["session"]
        self.number = 0
        self._terms = host.adapter("made").terms

    async def key(self, first: bytes = b"k") -> None:
        public = first.ljust(self._terms.key, b"\0")
        await self.host.set_key(self.principal, "made", self.id, _NONCE, public)

    async def ask(self, deed: bytes, number: int | None = None) -> bytes:
        query = deed.ljust(self._terms.query, b"\0")
        number = self.number + 1 if number is None else number
        reply = await self.host.evaluate(self.principal, "made", self.id, number, query)
        self.number = number
        return reply

    async def pid(self) -> int:
        return int.from_bytes((await self.ask(b"P"))[:4], "little")


def _with_host(test: Callable[[AdapterHost], Awaitable[None]], **limits: object) -> None:
    async def run() -> None:
        # An interpreter that starts beside a busy machine's other work must not wait for its turn.
        host = made_host({"made": made_adapter()}, evaluator=_DEEDS, **limits)
        await host.start()
        for place in host.pool.places:
            place._rest_until = 0.0
        try:
            await test(host)
        finally:
            await host.stop()

    asyncio.run(run())


async def _keyed(host: AdapterHost, principal: str = "ada") -> Device:
    device = Device(host, principal)
    await device.key()
    return device


@pytest.mark.parametrize("deed", [b"A", b"K", b"L", b"S"])
def test_a_query_whose_worker_dies_or_hangs_may_be_sent_again(deed: bytes) -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await _keyed(host), await _keyed(host, "babbage")
        before = await device.pid()
        left = host.budget.left("ada", "made")
        with pytest.raises(WorkerLost) as lost:
            await device.ask(deed)
        assert lost.value.retryable
        assert host.budget.left("ada", "made") == left
        # The very same number again, in a fresh process that was given both keys again.
        after = await device.pid()
        assert after not in (before, os.getpid())
        assert await other.pid() == after
        assert host.pool.places[0].losses == 1
        with pytest.raises(ProcessLookupError):
            os.kill(before, 0)

    _with_host(test, budget=10, cpu_seconds=0.2, wall_seconds=1.0 if deed == b"S" else 20.0)


def test_a_worker_that_is_killed_between_queries_is_replaced_unnoticed_or_told() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        pid = await device.pid()
        os.kill(pid, signal.SIGKILL)
        with suppress(WorkerLost):
            await device.ask(b"P")
        assert await device.pid() != pid

    _with_host(test)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the bound is Linux's")
def test_a_worker_that_asks_for_too_much_memory_is_refused_it_by_the_system() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        pid = await device.pid()
        with pytest.raises(WorkerFailed):
            await device.ask(b"M")
        assert await device.pid() == pid

    _with_host(test, worker_bytes=1 << 30)


@pytest.mark.parametrize("deed", [b"E", b"0"])
def test_a_worker_that_fails_or_answers_nonsense_spends_nothing(deed: bytes) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        with pytest.raises(WorkerFailed):
            await device.ask(deed)
        assert host.budget.left("ada", "made") == 10
        await device.pid()
        assert host.budget.left("ada", "made") == 9

    _with_host(test, budget=10)


def test_a_session_that_costs_two_workers_is_ended() -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await _keyed(host), await _keyed(host, "babbage")
        with pytest.raises(WorkerLost):
            await device.ask(b"A")
        with pytest.raises(UnknownSession):
            await device.ask(b"A")
        with pytest.raises(UnknownSession):
            await device.pid()
        host.pool.places[0]._rest_until = 0.0
        assert await other.pid()

    _with_host(test)


def test_new_sessions_do_not_let_one_principal_end_workers_without_end() -> None:
    async def test(host: AdapterHost) -> None:
        other = await _keyed(host, "babbage")
        for _ in range(2):
            host.pool.places[0]._rest_until = 0.0
            device = await _keyed(host)
            for _ in range(2):
                host.pool.places[0]._rest_until = 0.0
                with suppress(WorkerLost, UnknownSession):
                    await device.ask(b"A")
        host.pool.places[0]._rest_until = 0.0
        losses = host.pool.places[0].losses
        with pytest.raises(WorkersSpent) as spent:
            await _keyed(host)
        assert spent.value.retryable
        assert 0 < spent.value.retry_after <= 60
        assert losses == host.pool.places[0].losses == 4
        assert await other.pid()

    _with_host(test, strikes_per_principal=4, strike_seconds=60.0)


def test_a_worker_forgets_sessions_that_ended() -> None:
    async def test(host: AdapterHost) -> None:
        first = await _keyed(host)
        second = await _keyed(host)
        host.sessions.drop(host.sessions.find("ada", "made", first.id))
        await second.pid()
        assert (await second.ask(b"C"))[:1] == b"\x01"

    _with_host(test)


def test_sessions_are_spread_over_workers_and_stay_there() -> None:
    async def test(host: AdapterHost) -> None:
        devices = [await _keyed(host) for _ in range(4)]
        pids = [await device.pid() for device in devices]
        assert len(set(pids)) == 2
        assert [await device.pid() for device in devices] == pids
        assert [pids.count(pid) for pid in set(pids)] == [2, 2]

    _with_host(test, workers=2)


def test_a_key_that_is_refused_may_be_replaced_by_a_good_one() -> None:
    async def test(host: AdapterHost) -> None:
        device = Device(host)
        with pytest.raises(MalformedKey):
            await device.key(b"x")
        await device.key()
        assert await device.pid()

    _with_host(test)


def _environment(pid: int) -> list[bytes]:
    entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return [entry.partition(b"=")[0] for entry in entries]


def _core_limit(pid: int) -> list[str]:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("Max core file size")]
    return line.split()[4:6]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")
def test_workers_have_none_of_the_hosts_settings_and_dump_no_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(host: AdapterHost) -> None:
        pid = await (await _keyed(host)).pid()
        names = _environment(pid)
        assert not [name for name in names if name.startswith((b"SPLIT_", b"HF_", b"AWS_"))]
        assert {b"PATH", b"PYTHONPATH", b"LC_TIME", b"OMP_NUM_THREADS"} <= set(names)
        assert _core_limit(pid) == ["0", "0"]

    for secret in ("SPLIT_ADAPTERS_TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(secret, "a-token-that-stays-here")
    monkeypatch.setenv("LC_TIME", "C")
    _with_host(test)


def test_a_start_that_is_broken_off_leaves_no_process_behind() -> None:
    """Its answers would be taken for those of other jobs."""

    async def run() -> None:
        host = made_host({"made": made_adapter()}, evaluator=_DEEDS)
        place = host.pool.places[0]
        starting = asyncio.create_task(place.run(Job("evaluate", bytes(16), "made", (b"",))))
        while place.pid is None:  # noqa: ASYNC110 - a place has no event to wait for
            await asyncio.sleep(0)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        assert place.pid is None
        host.close()

    asyncio.run(run())


def test_a_host_that_closes_while_a_worker_starts_leaves_none_running() -> None:
    async def run() -> None:
        host = made_host({"made": made_adapter()}, evaluator=_DEEDS)
        place = host.pool.places[0]
        starting = asyncio.create_task(place.run(Job("evaluate", bytes(16), "made", (b"",))))
        await asyncio.sleep(0)
        host.close()
        with pytest.raises(WorkerLost):
            await starting
        assert place.pid is None

    asyncio.run(run())


def test_a_host_whose_workers_do_not_start_says_so() -> None:
    host = made_host({"made": made_adapter()}, evaluator="no.such.module:Evaluator")

    with pytest.raises(HostUnusable):
        asyncio.run(host.start())
    host.close()
