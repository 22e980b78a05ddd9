"""Masks at the host: each serves one state, and none comes back."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from split_masks.device import Hiding
from split_server.adapter_host.errors import (
    MalformedCiphertext,
    WorkerLost,
)
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.masks.errors import (
    MalformedMask,
    MaskForeign,
    MaskLost,
    MaskUsed,
)
from split_wire.errors import ShuttingDown, SplitError, UnknownSession
from tests.split_server.adapter_host.masking_device import (
    EXACT,
    keyed,
    with_host,
)


def test_a_masked_state_becomes_the_product_and_is_answered_again_from_memory(
    tmp_path: Path,
) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
        assert device.most == 512
        given = await device.reserve(3)
        assert (given.first, given.count) == (0, 3)
        for number in range(3):
            mask = await device.mask(number)
            state = device.masked(mask)
            answer = device.use(number, state)
            assert device.use(number, state) == answer
            np.testing.assert_allclose(mask.product(answer), EXACT, atol=1e-3)

    with_host(tmp_path, test)


def test_a_second_state_under_a_mask_is_refused(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
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

    with_host(tmp_path, test)


def test_masks_that_were_never_made_or_ended_with_their_session_are_lost(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
        await device.reserve(2)
        mask = await device.mask(0)
        state = device.masked(mask)
        with pytest.raises(MaskLost) as lost:
            device.use(1, state)
        assert lost.value.code == "mask_lost"
        await host.end(*device.whom)
        with pytest.raises(UnknownSession):
            device.use(0, state)
        other = await keyed(host)
        for number in (0, 1):
            with pytest.raises(MaskLost):
                other.use(number, state)

    with_host(tmp_path, test)


def test_masks_of_other_sessions_and_numbers_of_nobody_are_foreign(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device, other = await keyed(host), await keyed(host)
        stranger = await keyed(host, "babbage")
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

    with_host(tmp_path, test)


def test_a_host_that_was_started_again_knows_which_masks_it_lost(tmp_path: Path) -> None:
    states: list[bytes] = []

    async def before(host: AdapterHost) -> None:
        device = await keyed(host)
        await device.reserve(4)
        states.append(device.masked(await device.mask(0)))

    async def after(host: AdapterHost) -> None:
        device = await keyed(host)
        with pytest.raises(MaskLost, match="started again"):
            device.use(0, states[0])
        # The rest of the block is lost with them.
        with pytest.raises(MaskLost):
            device.use(255, states[0])
        with pytest.raises(MaskForeign):
            device.use(256, states[0])
        assert (await device.reserve(1)).first == 256

    with_host(tmp_path, before)
    with_host(tmp_path, after)


def test_malformed_bytes_leave_the_mask_and_the_number_as_they_were(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
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
        np.testing.assert_allclose(mask.product(device.use(0, state)), EXACT, atol=1e-3)

    with_host(tmp_path, test)


def test_a_worker_that_dies_loses_no_number_and_no_ready_mask(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
        await device.reserve(2)
        mask = await device.mask(0)
        (place,) = host.pool.places
        assert place.pid is not None
        os.kill(place.pid, signal.SIGKILL)
        place._rest_until = 0.0
        np.testing.assert_allclose(
            mask.product(device.use(0, device.masked(mask))), EXACT, atol=1e-3
        )
        with suppress(WorkerLost):
            await device.mask(1)
            return
        await device.mask(1)

    with_host(tmp_path, test)


def test_a_host_that_stops_makes_and_answers_no_more(tmp_path: Path) -> None:
    async def test(host: AdapterHost) -> None:
        device = await keyed(host)
        await device.reserve(1)
        mask = await device.mask(0)
        state = device.masked(mask)
        await host.stop()
        with pytest.raises(ShuttingDown):
            device.use(0, state)
        with pytest.raises(SplitError):
            await device.reserve(1, 2)

    with_host(tmp_path, test)
