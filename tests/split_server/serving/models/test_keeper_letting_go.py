"""Which models go: unused ones, for others that need the memory, and when the server ends."""

from __future__ import annotations

import asyncio
import threading

import pytest

from split_wire.errors import (
    ModelBusy,
    OperatorNeeded,
    ShuttingDown,
)
from tests.engines import run
from tests.split_server.serving.models.kept import Kept, reached


def test_what_was_unused_for_long_goes_and_what_was_used_stays() -> None:
    async def main() -> None:
        kept = Kept(keep=100.0)
        await kept.used("b")
        kept.now += 99
        await kept.keeper.sweep()
        room = await kept.used("b")
        kept.now += 99
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is room
        kept.now += 1
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is None
        assert kept.ground.events[-3:] == ["drain b", "close b", "let go b"]
        assert kept.ground.free == 90

    run(main())


def test_below_zero_a_model_is_always_kept() -> None:
    async def main() -> None:
        kept = Kept(keep=-1.0)
        await kept.used("b")
        kept.now += 1e9
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is not None
        with pytest.raises(ModelBusy):
            await kept.keeper.room("d", "ann")

    run(main())


def test_at_zero_a_model_goes_at_once_but_not_from_whoever_has_just_asked_for_it() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        await kept.used("b")
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is not None
        kept.now += 5
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is None

    run(main())


def test_where_memory_lacks_the_longest_unused_goes_first_and_no_more_than_needed() -> None:
    async def main() -> None:
        kept = Kept(keep=100.0)
        await kept.used("b")
        kept.now += 10
        await kept.used("c")
        kept.now += 100
        await kept.keeper.room("d", "bob")
        assert kept.states()["c"] == "unloaded"
        assert kept.ground.events.index("close b") < kept.ground.events.index("close c")
        kept.ground.free += 100
        await kept.keeper.room("b", "eve")
        assert kept.states() == {"a": "loaded", "b": "loaded", "c": "unloaded", "d": "loaded"}

    run(main())


def test_a_model_in_use_never_goes_for_a_request_which_is_told_what_holds_the_memory() -> None:
    async def main() -> None:
        kept = Kept(keep=100.0)
        room = await kept.used("b")
        kept.now += 40
        with pytest.raises(ModelBusy) as refusal:
            await kept.keeper.room("d", "bob")
        assert "a (0.00 GB), b (0.00 GB)" in str(refusal.value)
        assert refusal.value.retry_after == 60.0
        assert kept.keeper.loaded("b") is room
        assert kept.states()["d"] == "unloaded"
        kept.now += 59
        with pytest.raises(ModelBusy) as refusal:
            await kept.keeper.room("d", "bob")
        assert refusal.value.retry_after == 1.0

    run(main())


def test_only_its_own_principals_and_the_operator_unload_a_model() -> None:
    async def main() -> None:
        kept = Kept()
        room = await kept.used("b")
        for principals in (set[str](), {"bob"}, {"ann", "bob"}):
            room.principals = principals
            with pytest.raises(OperatorNeeded, match="unloading 'b'"):
                await kept.keeper.unload("b", "ann", operator=False)
        room.principals = {"ann"}
        await kept.keeper.unload("b", "ann", operator=False)
        assert kept.keeper.loaded("b") is None
        await kept.keeper.unload("b", "ann", operator=False)
        room = await kept.used("b")
        await kept.keeper.unload("b", "op", operator=True)
        state = kept.keeper.states()[1]
        assert (state.state, state.loads, state.unloads) == ("unloaded", 2, 2)
        assert (state.seconds, state.bytes) == (None, 40)

    run(main())


def test_nothing_is_loaded_once_the_server_drains_and_all_rooms_are_drained_and_closed() -> None:
    async def main() -> None:
        kept = Kept()
        await kept.used("b")
        await kept.keeper.drain()
        assert set(kept.ground.events[-2:]) == {"drain a", "drain b"}
        for name in ("b", "c"):
            with pytest.raises(ShuttingDown):
                await kept.keeper.room(name, "ann")
        kept.keeper.close()
        assert kept.ground.events[-2:] == ["close a", "close b"]

    run(main())


def test_a_drain_while_a_model_is_loaded_waits_for_nothing_and_tells_whoever_waits() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.gate = threading.Event()
        waits = asyncio.create_task(kept.keeper.room("b", "ann"))
        await reached(lambda: "load b" in kept.ground.events)
        await kept.keeper.drain()
        with pytest.raises(ShuttingDown):
            await waits
        assert kept.ground.promises == []
        kept.keeper.close()
        # Whoever ends the process hears that a thread is in the load still.
        assert kept.keeper.at_work
        kept.ground.gate.set()
        await reached(lambda: not kept.keeper.at_work)

    run(main())


def test_a_sweep_waits_for_no_load() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        await kept.used("b")
        kept.now += 10
        kept.ground.gate = threading.Event()
        loading = asyncio.create_task(kept.keeper.room("c", "ann"))
        await reached(lambda: kept.ground.promises)
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is not None
        kept.ground.gate.set()
        await loading

    run(main())


def test_a_model_that_cannot_be_drained_or_closed_leaves_all_the_same(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        kept = Kept()
        room = await kept.used("b")

        def broken() -> None:
            raise RuntimeError("it does not end")

        monkeypatch.setattr(room, "drain", broken)
        monkeypatch.setattr(room, "close", broken)
        await kept.keeper.unload("b", "op", operator=True)
        assert kept.ground.events[-1] == "let go b"
        assert kept.states()["b"] == "unloaded"
        assert "could not be drained" in caplog.text
        assert "could not be closed" in caplog.text

    run(main())


def test_a_model_that_leaves_when_the_server_ends_does_so_before_the_others_are_drained() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        await kept.used("b")
        kept.now += 10
        sweeping = asyncio.create_task(kept.keeper.sweep())
        await reached(lambda: "drain b" in kept.ground.events)
        assert kept.states()["b"] == "leaving"
        await kept.keeper.drain()
        await sweeping
        assert kept.ground.events[-4:] == ["drain b", "close b", "let go b", "drain a"]
        with pytest.raises(ShuttingDown):
            await kept.keeper.unload("b", "op", operator=True)

    run(main())


def test_what_is_cut_off_while_it_leaves_is_closed_with_the_server() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        await kept.used("b")
        kept.now += 10
        sweeping = asyncio.create_task(kept.keeper.sweep())
        await reached(lambda: "drain b" in kept.ground.events)
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await kept.keeper.drain()
        kept.keeper.close()
        assert "close b" in kept.ground.events

    run(main())


def test_at_zero_what_is_under_way_and_what_pauses_between_two_steps_stays() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        room = await kept.used("b")
        for _ in range(10):
            kept.now += 4
            room.last = kept.now - 2
            await kept.keeper.sweep()
            room.last = kept.now
            await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is room
        kept.now += 5
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is None

    run(main())


def test_nobody_unloads_what_others_wait_for_or_came_into_meanwhile() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.free = 1000
        room = await kept.used("b")
        room.principals = {"ann"}
        kept.ground.gate = threading.Event()
        loading = asyncio.create_task(kept.keeper.room("c", "bob"))
        await reached(lambda: kept.ground.promises)
        with pytest.raises(OperatorNeeded):
            await kept.keeper.unload("c", "ann", operator=False)
        unloading = asyncio.create_task(kept.keeper.unload("b", "ann", operator=False))
        await asyncio.sleep(0)
        room.principals.add("eve")
        kept.ground.gate.set()
        await loading
        with pytest.raises(OperatorNeeded):
            await unloading
        assert kept.keeper.loaded("b") is room

    run(main())


def test_what_is_kept_for_ever_is_waited_for_as_long_as_one_may_be_told_to() -> None:
    async def main() -> None:
        kept = Kept(keep=-1.0)
        await kept.used("b")
        with pytest.raises(ModelBusy) as told:
            await kept.keeper.room("d", "ann")
        assert told.value.retry_after == 60.0

    run(main())
