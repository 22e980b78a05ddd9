"""Which models are loaded, and for whom."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from split_server.errors import MalformedCheckpoint, ModelTooLarge, NoSpaceForCheckpoint
from split_wire.errors import (
    InternalError,
    ModelBusy,
    ModelLoading,
    ModelUnusable,
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
        (MalformedCheckpoint("/secret/path lacks a tensor"), ModelUnusable),
        (NoSpaceForCheckpoint("b", 9, 1, "/secret/path"), InternalError),
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


def test_the_state_of_a_model_tells_what_it_holds_and_since_when_it_is_unused() -> None:
    async def main() -> None:
        kept = Kept()
        assert kept.keeper.states()[1].bytes is None
        await kept.used("b")
        kept.now += 7
        state = kept.keeper.states()[1]
        assert (state.name, state.first, state.seconds, state.bytes) == ("b", False, 7.0, 40)

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
