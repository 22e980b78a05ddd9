"""Masks at the host: each serves one state, each is a unit of the budget, none comes back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_he.device import encrypt, rounded
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_masks.device import Hiding, Mask
from split_masks.ranges import MaskRange
from split_server.adapter_host.budget import StateFile
from split_server.adapter_host.errors import (
    BudgetExhausted,
    HostStateUnusable,
    KeyMissing,
    MalformedCiphertext,
    WorkerLost,
)
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.masks.errors import (
    MalformedMask,
    MaskConflict,
    MaskForeign,
    MaskLost,
    MasksUnavailable,
    MaskUsed,
    TooManyMasks,
)
from split_wire.errors import ShuttingDown, SplitError, UnknownSession
from tests.adapter_hosts import made_adapter, made_host

_FILE = made_adapter()
_HIDDEN = np.linspace(-2, 2, 64).astype(np.float32)
_EXACT = _FILE.a.astype(np.float64) @ _HIDDEN.astype(np.float64)
Test = Callable[[AdapterHost], Awaitable[None]]


class Device:
    """A device of ``split_he`` without sockets, its masks by number."""

    def __init__(self, host: AdapterHost, principal: str = "ada") -> None:
        self.host, self.principal = host, principal
        opened = host.open(principal, "made")
        self.id: bytes = opened["session"]
        self.most: int = opened["masks"]
        self.plan = Packing.parse(opened["packing"])
        self.nonce = bytes(range(32))
        self.keys = DeviceKeys.generate(opened["host_nonce"], self.nonce)

    @property
    def whom(self) -> tuple[str, str, bytes]:
        return self.principal, "made", self.id

    async def key(self) -> None:
        await self.host.set_key(*self.whom, self.nonce, self.keys.public)

    async def reserve(self, count: int, ordinal: int = 1) -> MaskRange:
        return MaskRange.parse(await self.host.reserve(*self.whom, ordinal, count))

    async def mask(self, number: int) -> Mask:
        hiding = Hiding.draw(self.keys, self.plan)
        reply = await self.host.make_mask(*self.whom, number, hiding.query)
        return hiding.mask(number, reply, self.keys, self.plan)

    def masked(self, mask: Mask, hidden: np.ndarray = _HIDDEN) -> bytes:
        return mask.masked(rounded(hidden, self.plan))

    def use(self, number: int, state: bytes) -> bytes:
        return self.host.masked(*self.whom, number, state)


async def _keyed(host: AdapterHost, principal: str = "ada") -> Device:
    device = Device(host, principal)
    await device.key()
    return device


def _with_host(folder: Path, test: Test, **options: Any) -> None:
    async def run() -> None:
        host = made_host({"made": _FILE}, **({"masks": folder, "budget": 100} | options))
        await host.start()
        try:
            await test(host)
        finally:
            await host.stop()

    asyncio.run(run())


def test_a_masked_state_becomes_the_product_and_is_answered_again_from_memory(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        assert device.most == 512
        given = await device.reserve(3)
        assert (given.first, given.count) == (0, 3)
        for number in range(3):
            mask = await device.mask(number)
            state = device.masked(mask)
            answer = device.use(number, state)
            assert device.use(number, state) == answer
            np.testing.assert_allclose(mask.product(answer), _EXACT, atol=1e-3)

    _with_host(tmp_path, test)


def test_a_second_state_under_a_mask_is_refused(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(2)
        masks = [await device.mask(number) for number in range(2)]
        states = [device.masked(mask) for mask in masks]
        device.use(0, states[0])
        with pytest.raises(MaskUsed) as used:
            device.use(0, states[1])
        assert used.value.code == "mask_used"
        assert not used.value.retryable
        device.use(1, states[1])
        # Nor the same state once another one came after it.
        with pytest.raises(MaskUsed):
            device.use(0, states[0])

    _with_host(tmp_path, test)


def test_masks_that_were_never_made_or_ended_with_their_session_are_lost(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(2)
        mask = await device.mask(0)
        state = device.masked(mask)
        with pytest.raises(MaskLost) as lost:
            device.use(1, state)
        assert lost.value.code == "mask_lost"
        await host.end(*device.whom)
        with pytest.raises(UnknownSession):
            device.use(0, state)
        other = await _keyed(host)
        for number in (0, 1):
            with pytest.raises(MaskLost):
                other.use(number, state)

    _with_host(tmp_path, test)


def test_masks_of_other_sessions_and_numbers_of_nobody_are_foreign(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await _keyed(host), await _keyed(host)
        stranger = await _keyed(host, "babbage")
        await device.reserve(2)
        state = device.masked(await device.mask(0))
        for who, number in ((other, 0), (other, 1), (device, 2), (device, 2**64 - 1)):
            with pytest.raises(MaskForeign) as foreign:
                who.use(number, state)
            assert foreign.value.code == "mask_foreign"
        with pytest.raises(MaskForeign):
            stranger.use(0, state)
        with pytest.raises(UnknownSession):
            host.masked("babbage", "made", device.id, 0, state)
        device.use(0, state)

    _with_host(tmp_path, test)


def test_a_host_that_was_started_again_knows_which_masks_it_lost(tmp_path: Path) -> None:
    states: list[bytes] = []

    async def before(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(4)
        states.append(device.masked(await device.mask(0)))

    async def after(host: AdapterHost) -> None:
        device = await _keyed(host)
        with pytest.raises(MaskLost, match="started again"):
            device.use(0, states[0])
        # The rest of the block is lost with them.
        with pytest.raises(MaskLost):
            device.use(255, states[0])
        with pytest.raises(MaskForeign):
            device.use(256, states[0])
        assert (await device.reserve(1)).first == 256

    _with_host(tmp_path, before)
    _with_host(tmp_path, after)


def test_each_number_is_a_unit_that_never_comes_back(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        given = await device.reserve(6)
        assert host.budget.left("ada", "made") == 4
        # It is on the disk before anybody is told.
        assert json.loads((tmp_path / "queries.json").read_text())["queries"]["ada"]["made"] >= 6
        assert json.loads((tmp_path / "host-masks.json").read_text())["next"] == {"ada": 256}
        # The same request again is the same range.
        assert await device.reserve(6) == given
        await device.mask(0)
        await host.end(*device.whom)
        assert host.budget.left("ada", "made") == 4
        other = await _keyed(host)
        assert (await other.reserve(512)).count == 4
        third = await _keyed(host)
        with pytest.raises(BudgetExhausted):
            await third.reserve(1)
        with pytest.raises(BudgetExhausted):
            await host.evaluate(*third.whom, 1, encrypt(_HIDDEN, third.keys, third.plan))

    _with_host(tmp_path, test, budget=10, state=tmp_path)


def test_a_principal_holds_so_many_and_may_have_more_when_some_are_used(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await _keyed(host), await _keyed(host)
        assert (await device.reserve(512)).count == 3
        with pytest.raises(TooManyMasks) as many:
            await other.reserve(1)
        assert many.value.code == "too_many_masks"
        assert (await (await _keyed(host, "babbage")).reserve(1)).count == 1
        mask = await device.mask(0)
        device.use(0, device.masked(mask))
        assert (await other.reserve(5)).count == 1
        await host.end(*device.whom)
        assert (await (await _keyed(host)).reserve(5)).count == 2

    _with_host(tmp_path, test, masks_per_principal=3)


def test_all_principals_together_hold_so_many(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        assert (await (await _keyed(host)).reserve(3)).count == 3
        assert (await (await _keyed(host, "babbage")).reserve(3)).count == 1
        with pytest.raises(TooManyMasks, match="all 4"):
            await (await _keyed(host, "clara")).reserve(1)

    _with_host(tmp_path, test, masks_in_all=4)


def test_numbers_are_made_in_their_order_and_a_repeated_one_repeats_its_bytes(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        query = Hiding.draw(device.keys, device.plan).query
        with pytest.raises(MaskConflict):
            await host.make_mask(*device.whom, 0, query)
        await device.reserve(2)
        for number in (1, 2, 2**64 - 1):
            with pytest.raises(MaskConflict):
                await host.make_mask(*device.whom, number, query)
        asked = [host.make_mask(*device.whom, 0, query) for _ in range(2)]
        first, second = await asyncio.gather(*asked)
        assert first == second
        with pytest.raises(MaskConflict):
            await device.mask(0)
        for ordinal in (0, 2, 3):
            with pytest.raises(MaskConflict):
                await device.reserve(2, ordinal)
        await device.mask(1)
        assert (await device.reserve(2, 2)).first == 2

    _with_host(tmp_path, test)


def test_nothing_is_reserved_without_a_key_a_count_or_a_file(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = Device(host)
        with pytest.raises(KeyMissing):
            await device.reserve(1)
        await device.key()
        for count in (0, 1025, 65535):
            with pytest.raises(MalformedMask):
                await host.reserve(*device.whom, 1, count)
        assert host.budget.left("ada", "made") == 100

    async def without(host: AdapterHost) -> None:
        device = await _keyed(host)
        assert device.most == 0
        with pytest.raises(MasksUnavailable):
            await device.reserve(1)

    _with_host(tmp_path, test)
    _with_host(tmp_path, without, masks=None)
    _with_host(tmp_path, without, masks_per_principal=0)


def test_a_file_that_is_damaged_under_a_running_host_hands_out_nothing(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        (tmp_path / "host-masks.json").write_bytes(b"{")
        with pytest.raises(MasksUnavailable) as unavailable:
            await device.reserve(3)
        assert unavailable.value.code == "masks_unavailable"
        assert host.budget.left("ada", "made") == 100
        (tmp_path / "host-masks.json").unlink()
        assert (await device.reserve(3)).first == 0

    _with_host(tmp_path, test)


def test_numbers_of_a_block_are_handed_out_one_after_the_other(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        devices = [await _keyed(host) for _ in range(4)]
        given = await asyncio.gather(*(device.reserve(100) for device in devices))
        assert sorted((one.first, one.count) for one in given) == [
            (0, 100),
            (100, 100),
            (200, 56),
            (256, 100),
        ]
        assert host.budget.left("ada", "made") == 1000 - 356
        assert host._masks.held("ada") == 356

    _with_host(tmp_path, test, budget=1000)


def test_a_count_that_cannot_be_written_hands_out_nothing_and_keeps_the_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)

        def full(*_: object) -> None:
            raise HostStateUnusable(tmp_path, "no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(StateFile, "write", full)
            with pytest.raises(HostStateUnusable):
                await device.reserve(3)
        assert host.budget.left("ada", "made") == 97
        given = await device.reserve(3)
        assert (given.first, given.count) == (3, 3)

    _with_host(tmp_path, test, state=tmp_path)


def test_malformed_bytes_leave_the_mask_and_the_number_as_they_were(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(1)
        query = Hiding.draw(device.keys, device.plan).query
        for broken in (bytes(len(query)), query[:8] + b"\xff" * (len(query) - 8)):
            with pytest.raises(MalformedCiphertext):
                await host.make_mask(*device.whom, 0, broken)
        mask = await device.mask(0)
        state = device.masked(mask)
        for broken in (b"\xff" * len(state), b"", state[:-1]):
            with pytest.raises(MalformedMask):
                device.use(0, broken)
        np.testing.assert_allclose(mask.product(device.use(0, state)), _EXACT, atol=1e-3)

    _with_host(tmp_path, test)


def test_a_worker_that_dies_loses_no_number_and_no_ready_mask(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(2)
        mask = await device.mask(0)
        (place,) = host.pool.places
        assert place.pid is not None
        os.kill(place.pid, signal.SIGKILL)
        place._rest_until = 0.0
        np.testing.assert_allclose(
            mask.product(device.use(0, device.masked(mask))), _EXACT, atol=1e-3
        )
        with suppress(WorkerLost):
            await device.mask(1)
            return
        await device.mask(1)

    _with_host(tmp_path, test)


def test_a_host_that_stops_makes_and_answers_no_more(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await _keyed(host)
        await device.reserve(1)
        mask = await device.mask(0)
        state = device.masked(mask)
        await host.stop()
        with pytest.raises(ShuttingDown):
            device.use(0, state)
        with pytest.raises(SplitError):
            await device.reserve(1, 2)

    _with_host(tmp_path, test)
