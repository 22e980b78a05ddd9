"""Numbers of masks: each is a unit of the budget, handed out once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from split_he.device import encrypt
from split_masks.device import Hiding
from split_server.adapter_host.budget import StateFile
from split_server.adapter_host.errors import (
    BudgetExhausted,
    HostStateUnusable,
    KeyMissing,
)
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.masks.errors import (
    MalformedMask,
    MaskConflict,
    MasksUnavailable,
    TooManyMasks,
)
from tests.split_server.adapter_host.masking_device import (
    HIDDEN,
    Device,
    keyed,
    with_host,
)


def test_each_number_is_a_unit_that_never_comes_back(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
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
        other = await keyed(host)
        assert (await other.reserve(512)).count == 4
        third = await keyed(host)
        with pytest.raises(BudgetExhausted):
            await third.reserve(1)
        with pytest.raises(BudgetExhausted):
            await host.evaluate(*third.whom, 1, encrypt(HIDDEN, third.keys, third.plan))

    with_host(tmp_path, test, budget=10, state=tmp_path)


def test_a_principal_holds_so_many_and_may_have_more_when_some_are_used(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await keyed(host), await keyed(host)
        assert (await device.reserve(512)).count == 3
        with pytest.raises(TooManyMasks) as many:
            await other.reserve(1)
        assert many.value.code == "too_many_masks"
        assert (await (await keyed(host, "babbage")).reserve(1)).count == 1
        mask = await device.mask(0)
        device.use(0, device.masked(mask))
        assert (await other.reserve(5)).count == 1
        await host.end(*device.whom)
        assert (await (await keyed(host)).reserve(5)).count == 2

    with_host(tmp_path, test, masks_per_principal=3)


def test_all_principals_together_hold_so_many(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        assert (await (await keyed(host)).reserve(3)).count == 3
        assert (await (await keyed(host, "babbage")).reserve(3)).count == 1
        with pytest.raises(TooManyMasks, match="all 4"):
            await (await keyed(host, "clara")).reserve(1)

    with_host(tmp_path, test, masks_in_all=4)


def test_numbers_are_made_in_their_order_and_a_repeated_one_repeats_its_bytes(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
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

    with_host(tmp_path, test)


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
        device = await keyed(host)
        assert device.most == 0
        with pytest.raises(MasksUnavailable):
            await device.reserve(1)

    with_host(tmp_path, test)
    with_host(tmp_path, without, masks=None)
    with_host(tmp_path, without, masks_per_principal=0)


def test_a_file_that_is_damaged_under_a_running_host_hands_out_nothing(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
        (tmp_path / "host-masks.json").write_bytes(b"{")
        with pytest.raises(MasksUnavailable) as unavailable:
            await device.reserve(3)
        assert unavailable.value.code == "masks_unavailable"
        assert host.budget.left("ada", "made") == 100
        (tmp_path / "host-masks.json").unlink()
        assert (await device.reserve(3)).first == 0

    with_host(tmp_path, test)


def test_numbers_of_a_block_are_handed_out_one_after_the_other(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        devices = [await keyed(host) for _ in range(4)]
        given = await asyncio.gather(*(device.reserve(100) for device in devices))
        assert sorted((one.first, one.count) for one in given) == [
            (0, 100),
            (100, 100),
            (200, 56),
            (256, 100),
        ]
        assert host.budget.left("ada", "made") == 1000 - 356
        assert host._masks.held("ada") == 356

    with_host(tmp_path, test, budget=1000)


def test_a_count_that_cannot_be_written_hands_out_nothing_and_keeps_the_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)

        def full(*_: object) -> None:
            raise HostStateUnusable(tmp_path, "no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(StateFile, "write", full)
            with pytest.raises(HostStateUnusable):
                await device.reserve(3)
        assert host.budget.left("ada", "made") == 97
        given = await device.reserve(3)
        assert (given.first, given.count) == (3, 3)

    with_host(tmp_path, test, state=tmp_path)
