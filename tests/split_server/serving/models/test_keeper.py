"""Which models are loaded, for whom, and which go."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from split_server.errors import MalformedCheckpoint, ModelTooLarge
from split_wire.errors import (
    InternalError,
    ModelBusy,
    ModelLoading,
    OperatorNeeded,
    ShuttingDown,
    UnknownModel,
)
from tests.engines import run
from tests.split_server.serving.models.kept import Kept, reached


def test_a_model_is_loaded_when_it_is_asked_for_and_once() -> None:
    async def main() -> None:
        kept = Kept()
        assert kept.keeper.loaded("b") is None
        both = await asyncio.gather(*(kept.keeper.room("b", "ann") for _ in range(2)))
        assert both[0] is both[1] is kept.keeper.loaded("b")
        assert await kept.keeper.room("b", "bob") is both[0]
        assert kept.ground.events == ["way 0", "load b", "start b"]
        assert kept.states() == {"a": "loaded", "b": "loaded", "c": "unloaded", "d": "unloaded"}

    run(main())


def test_the_first_model_is_there_and_never_goes() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0)
        assert await kept.keeper.room("a", "ann") is kept.first
        kept.now += 1e6
        await kept.keeper.sweep()
        assert kept.keeper.rooms() == [kept.first]
        with pytest.raises(ModelBusy, match="the first model stays loaded"):
            await kept.keeper.unload("a", "ann", operator=True)

    run(main())


def test_an_unknown_name_is_told_with_those_that_there_are() -> None:
    async def main() -> None:
        with pytest.raises(UnknownModel, match="'x' not found; served here: a, b, c, d"):
            await Kept().keeper.room("x", "ann")

    run(main())


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


def test_what_makes_way_in_other_rooms_counts_as_free() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.free, kept.ground.waiting = 10, 30
        await kept.keeper.room("b", "ann")
        assert kept.ground.events[0] == "way 0"

    run(main())


def test_a_cheaper_way_is_taken_where_the_dearest_does_not_fit() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.free, kept.ground.less = 30, {"b": 20}
        await kept.keeper.room("b", "ann")
        assert kept.ground.events[0] == "way 1"
        assert kept.keeper.states()[1].loads == 1

    run(main())


def test_memory_is_promised_while_it_is_loaded_and_not_longer() -> None:
    async def main() -> None:
        kept = Kept(patience=0.0)
        kept.ground.gate = threading.Event()
        with pytest.raises(ModelLoading):
            await kept.keeper.room("b", "ann")
        await reached(lambda: kept.ground.promises)
        assert kept.ground.promises == [40]
        kept.ground.gate.set()
        await reached(lambda: kept.keeper.loaded("b"))
        assert kept.ground.promises == []

    run(main())


def test_who_waits_too_long_is_told_when_to_come_back_by_the_last_load() -> None:
    async def main() -> None:
        kept = Kept(patience=0.0)
        kept.ground.gate = threading.Event()
        with pytest.raises(ModelLoading) as told:
            await kept.keeper.room("b", "ann")
        assert told.value.retry_after == 15.0
        assert kept.states()["b"] == "loading"
        await reached(lambda: kept.ground.promises)
        kept.now += 12
        with pytest.raises(ModelLoading) as told:
            await kept.keeper.room("b", "ann")
        assert told.value.retry_after == 3.0
        kept.now += 8
        kept.ground.gate.set()
        await reached(lambda: kept.keeper.loaded("b"))
        await kept.keeper.unload("b", "ann", operator=True)
        kept.ground.gate.clear()
        with pytest.raises(ModelLoading) as told:
            await kept.keeper.room("b", "ann")
        assert told.value.retry_after == 20.0
        kept.ground.gate.set()

    run(main())


def test_who_goes_away_does_not_take_the_load_from_others() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.gate = threading.Event()
        gone = asyncio.create_task(kept.keeper.room("b", "ann"))
        stays = asyncio.create_task(kept.keeper.room("b", "bob"))
        await reached(lambda: kept.ground.promises)
        gone.cancel()
        kept.ground.gate.set()
        assert await stays is kept.keeper.loaded("b")

    run(main())


def test_models_are_loaded_one_at_a_time() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.free, kept.ground.gate = 1000, threading.Event()
        both = [asyncio.create_task(kept.keeper.room(name, "ann")) for name in "bc"]
        await reached(lambda: kept.ground.promises)
        assert kept.states()["c"] == "loading"
        assert "load c" not in kept.ground.events
        kept.ground.gate.set()
        await asyncio.gather(*both)
        assert kept.ground.events[-2:] == ["load c", "start c"]

    run(main())


def test_a_principal_has_two_models_loaded_within_a_minute_and_others_theirs() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.free = 1000
        await kept.keeper.room("b", "ann")
        kept.now += 20
        await kept.keeper.room("c", "ann")
        with pytest.raises(ModelBusy, match="two models loaded") as told:
            await kept.keeper.room("d", "ann")
        assert told.value.retry_after == 40.0
        await kept.keeper.room("b", "ann")
        await kept.keeper.room("d", "bob")
        await kept.keeper.unload("d", "bob", operator=True)
        kept.now += 40
        await kept.keeper.room("d", "ann")

    run(main())


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (MalformedCheckpoint("/secret/path lacks a tensor"), InternalError),
        (RuntimeError("a bug"), InternalError),
        (ModelTooLarge("b", 9, 1, "machine"), ModelBusy),
        (MemoryError(), ModelBusy),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), ModelBusy),
    ],
)
def test_a_load_that_fails_is_told_and_leaves_the_others_alone(
    failure: Exception, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.failure = failure
        with caplog.at_level(logging.WARNING), pytest.raises(error) as told:
            await kept.keeper.room("b", "ann")
        assert "secret" not in str(told.value)
        assert caplog.records
        assert kept.ground.promises == []
        assert kept.states()["b"] == "unloaded"
        assert kept.keeper.loaded("a") is kept.first
        kept.ground.failure = None
        assert await kept.keeper.room("b", "ann") is kept.keeper.loaded("b")

    run(main())


def test_the_error_of_a_failed_load_holds_nothing_of_what_was_loaded() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.failure = RuntimeError("a bug")
        with pytest.raises(InternalError) as told:
            await kept.keeper.room("b", "ann")
        assert told.value.__context__ is None
        assert told.value.__cause__ is None

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


def test_the_state_of_a_model_tells_what_it_holds_and_since_when_it_is_unused() -> None:
    async def main() -> None:
        kept = Kept()
        assert kept.keeper.states()[1].bytes is None
        await kept.used("b")
        kept.now += 7
        state = kept.keeper.states()[1]
        assert (state.name, state.first, state.seconds, state.bytes) == ("b", False, 7.0, 40)

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
        await reached(lambda: kept.ground.promises)
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


def test_a_model_whose_first_pass_fails_is_ended_and_the_others_stay() -> None:
    async def main() -> None:
        kept = Kept()
        kept.ground.broken = "b"
        with pytest.raises(InternalError):
            await kept.keeper.room("b", "ann")
        assert kept.ground.events[-3:] == ["drain b", "close b", "let go b"]
        assert kept.ground.free == 90
        assert kept.keeper.rooms() == [kept.first]

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


def test_whoever_comes_back_when_told_to_finds_the_model() -> None:
    async def main() -> None:
        kept = Kept(keep=0.0, patience=0.0)
        kept.ground.gate = threading.Event()
        with pytest.raises(ModelLoading) as told:
            await kept.keeper.room("b", "ann")
        kept.ground.gate.set()
        await reached(lambda: kept.keeper.loaded("b"))
        kept.now += told.value.retry_after
        await kept.keeper.sweep()
        assert kept.keeper.loaded("b") is not None
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
