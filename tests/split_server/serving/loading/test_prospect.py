"""What a model would take that is not loaded yet, and what is missing for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.planner import RESERVE
from split_server.memory.shared import SharedMemory
from split_server.serving.config import ServerConfig
from split_server.serving.engines.checkpoint import open_for
from split_server.serving.loading.prospect import Prospect, prospect_of
from split_server.serving.plan import plan_memory
from split_wire.errors import CacheFull
from tests.split_server.memory.test_shared import House


def _prospect(house: House, size: int) -> Prospect:
    limit = MemoryLimit([lambda: Room(house.free, "test")])
    return Prospect(house.shared.seat(), limit, (lambda _: size,))


def test_a_model_needs_its_weights_and_a_session_beside_what_stays_free(tiny_path: Path) -> None:
    config = ServerConfig(model=str(tiny_path), stream="off", compat=False)
    checkpoint = open_for(config)
    _, need = plan_memory(config, checkpoint, texts=False)
    (way,) = prospect_of(config, checkpoint, SharedMemory()).ways
    own = Room(1 << 30, "test")
    assert way(own) >= max(need.peak, need.kept) + RESERVE
    assert way(Room(1 << 30, "test", counts_untouched=True)) >= way(own)


def test_a_model_may_be_loaded_with_layers_on_disk_where_that_is_not_off(tiny_path: Path) -> None:
    config = ServerConfig(model=str(tiny_path), device="cpu", compat=False)
    prospect = prospect_of(config, open_for(config), SharedMemory())
    assert len(prospect.ways) == 2


def test_what_the_others_keep_for_later_is_not_missing_and_goes_when_it_is_needed() -> None:
    house = House(8 << 20)
    place = house.place(idle=4 << 20)
    session = place.open()
    place.step(700, session=session)
    place.store.close("ann", session.key)
    waiting = place.room.waiting
    prospect = _prospect(house, house.free + waiting - place.room.workspace)
    assert prospect.lacking(0) == 0
    assert prospect.lacking(0, waiting=False) == waiting
    prospect.make_way(0)
    assert place.room.waiting == 0
    assert prospect.lacking(0, waiting=False) == 0


def test_nothing_goes_that_need_not() -> None:
    house = House(8 << 20)
    place = house.place(idle=4 << 20)
    session = place.open()
    place.step(700, session=session)
    place.store.close("ann", session.key)
    waiting = place.room.waiting
    _prospect(house, 1000).make_way(0)
    assert place.room.waiting == waiting


def test_what_sessions_of_others_hold_is_missing() -> None:
    house = House(8 << 20)
    place = house.place()
    before = _prospect(house, 8 << 20).lacking(0)
    place.step(700)
    grown = place.held + place.room.untouched
    assert _prospect(house, 8 << 20).lacking(0) >= before + grown


def test_caches_do_not_grow_into_what_is_promised_to_a_load() -> None:
    house = House(14 << 20)
    place = house.place()
    with house.shared.loading(8 << 20), pytest.raises(CacheFull):
        place.step(2000)
    place.step(2000)
