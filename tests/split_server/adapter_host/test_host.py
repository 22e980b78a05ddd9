"""Numbered queries: each is computed and counted once, whatever is sent again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_he.device import decrypt, encrypt
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_server.adapter_host.budget import StateFile
from split_server.adapter_host.errors import (
    BudgetExhausted,
    HostStateUnusable,
    KeyConflict,
    KeyMissing,
    MalformedCiphertext,
    MalformedKey,
    QueryConflict,
)
from split_server.adapter_host.host import AdapterHost
from split_wire.errors import Overloaded, ShuttingDown, UnknownAdapter, UnknownSession
from tests.adapter_hosts import made_adapter, made_host

_FILE = made_adapter()
_HIDDEN = np.linspace(-2, 2, 64).astype(np.float32)
Test = Callable[[AdapterHost], Awaitable[None]]


class Device:
    """A device of ``split_he`` without sockets."""

    def __init__(self, host: AdapterHost, principal: str = "ada") -> None:
        self.host, self.principal = host, principal
        opened = host.open(principal, "made")
        self.id: bytes = opened["session"]
        self.plan = Packing.parse(opened["packing"])
        self.nonce = bytes(range(32))
        self.keys = DeviceKeys.generate(opened["host_nonce"], self.nonce)

    async def key(self) -> None:
        await self.host.set_key(self.principal, "made", self.id, self.nonce, self.keys.public)

    def query(self) -> bytes:
        return encrypt(_HIDDEN, self.keys, self.plan)

    async def ask(self, number: int, query: bytes, principal: str | None = None) -> bytes:
        return await self.host.evaluate(principal or self.principal, "made", self.id, number, query)


def _with_host(test: Test, budget: int = 100, **limits: Any) -> None:
    async def run() -> None:
        host = made_host({"made": _FILE}, budget=budget, **limits)
        await host.start()
        try:
            await test(host)
        finally:
            await host.stop()

    asyncio.run(run())


async def _keyed(host: AdapterHost, principal: str = "ada") -> Device:
    device = Device(host, principal)
    await device.key()
    return device


def test_a_reply_decrypts_to_the_product_and_a_resend_is_answered_from_memory() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()
        reply = await device.ask(1, query)
        expected = _FILE.a.astype(np.float64) @ _HIDDEN.astype(np.float64)
        np.testing.assert_allclose(decrypt(reply, device.keys, device.plan), expected, atol=1e-3)
        # Replies are blinded afresh, so equal bytes were not computed twice.
        assert await device.ask(1, query) == reply
        assert host.budget.left("ada", "made") == 99
        assert await device.ask(2, query) != reply
        assert host.budget.left("ada", "made") == 98

    _with_host(test)


def test_the_same_query_while_it_is_computed_is_computed_once() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()
        first, second = await asyncio.gather(device.ask(1, query), device.ask(1, query))
        assert first == second
        assert host.budget.left("ada", "made") == 99

    _with_host(test)


def test_other_bytes_or_another_number_are_a_conflict() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query, other = device.query(), device.query()
        with pytest.raises(QueryConflict):
            await device.ask(2, query)
        await device.ask(1, query)
        for number, given in ((1, other), (0, query), (3, query), (2**64 - 1, query)):
            with pytest.raises(QueryConflict):
                await device.ask(number, given)
        assert host.budget.left("ada", "made") == 99

    _with_host(test)


def test_a_device_that_hangs_up_finds_its_answer_when_it_comes_back() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()
        waiting = asyncio.ensure_future(device.ask(1, query))
        await asyncio.sleep(0)
        waiting.cancel()
        reply = await device.ask(1, query)
        assert len(reply) == host.adapter("made").terms.reply
        assert host.budget.left("ada", "made") == 99

    _with_host(test)


def test_a_malformed_query_spends_nothing_and_its_number_stays_free() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()
        for broken in (bytes(len(query)), query[:8] + b"\xff" * (len(query) - 8)):
            with pytest.raises(MalformedCiphertext):
                await device.ask(1, broken)
        assert host.budget.left("ada", "made") == 100
        await device.ask(1, query)

    _with_host(test)


def test_a_spent_budget_refuses_the_next_query_but_still_repeats_the_last() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()
        reply = await device.ask(1, query)
        with pytest.raises(BudgetExhausted) as exhausted:
            await device.ask(2, query)
        assert not exhausted.value.retryable
        assert await device.ask(1, query) == reply
        # A new session brings no new budget, another principal has its own.
        fresh = await _keyed(host)
        with pytest.raises(BudgetExhausted):
            await fresh.ask(1, fresh.query())
        other = await _keyed(host, "babbage")
        assert await other.ask(1, other.query())

    _with_host(test, budget=1)


def test_keys_are_checked_and_a_session_has_one() -> None:
    async def test(host: AdapterHost) -> None:
        device = Device(host)
        with pytest.raises(KeyMissing):
            await device.ask(1, device.query())
        good = device.keys.public
        for public in (bytes(len(good)), good[:8] + b"\xff" * (len(good) - 8)):
            with pytest.raises(MalformedKey):
                await host.set_key("ada", "made", device.id, device.nonce, public)
        await device.key()
        await device.key()
        other = DeviceKeys.generate(bytes(32), bytes(32)).public
        with pytest.raises(KeyConflict):
            await host.set_key("ada", "made", device.id, device.nonce, other)

    _with_host(test)


def test_sessions_of_others_and_unknown_names_are_refused() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        with pytest.raises(UnknownSession):
            await device.ask(1, device.query(), principal="babbage")
        with pytest.raises(UnknownAdapter):
            host.open("ada", "other")

    _with_host(test)


def test_a_query_is_computed_only_after_its_count_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = device.query()

        def full(*_: object) -> None:
            raise HostStateUnusable(tmp_path, "no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(StateFile, "write", full)
            patched.setattr(host.pool, "run", None)
            with pytest.raises(HostStateUnusable):
                await device.ask(1, query)
        assert host.budget.left("ada", "made") == 5
        await device.ask(1, query)
        document = json.loads((tmp_path / "queries.json").read_text())
        assert document["queries"] == {"ada": {"made": 1}}

    _with_host(test, budget=5, state=tmp_path)


def test_queries_beyond_the_queue_are_told_to_come_back() -> None:
    async def test(host: AdapterHost) -> None:
        devices = [await _keyed(host) for _ in range(3)]
        asked = [device.ask(1, device.query()) for device in devices]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(answer) for answer in answers] == [bytes, bytes, Overloaded]
        assert await devices[2].ask(1, devices[2].query())

    _with_host(test, waiting_per_principal=2)


def test_a_host_that_stops_answers_what_is_under_way_and_refuses_the_rest() -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        waiting = asyncio.ensure_future(device.ask(1, device.query()))
        await asyncio.sleep(0)
        await host.stop()
        assert len(await waiting) == host.adapter("made").terms.reply
        with pytest.raises(ShuttingDown):
            await device.ask(2, device.query())

    _with_host(test)
