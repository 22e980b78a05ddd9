"""A model whose files are none that can be loaded: how often that is tried, and what it costs."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

import pytest

from split_server.errors import MalformedCheckpoint, UnusableModel
from split_wire.errors import ModelBusy, ModelUnusable
from tests.split_server.serving.models.kept import Kept

CUT = MalformedCheckpoint("/secret/path ends too early")


def loads(kept: Kept) -> int:
    return kept.ground.events.count("load b")


async def refused(kept: Kept, name: str = "b", principal: str = "ann") -> ModelUnusable:
    with pytest.raises(ModelUnusable) as told:
        await kept.keeper.room(name, principal)
    return told.value


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    (tmp_path / "config.json").write_text("{")
    found = Kept(place=tmp_path)
    found.ground.failure = CUT
    return found


def test_what_cannot_be_loaded_is_tried_once_and_costs_nobody_a_load(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        with caplog.at_level(logging.ERROR):
            errors = [await refused(kept) for _ in range(5)]
        assert {error.code for error in errors} == {"model_unusable"}
        assert not any(error.retryable or "secret" in str(error) for error in errors)
        assert loads(kept) == 1
        assert [record.message for record in caplog.records] == [
            "model b cannot be loaded: /secret/path ends too early [malformed_checkpoint]"
        ]
        kept.ground.failure = None
        await kept.keeper.room("c", "ann")
        await kept.keeper.unload("c", "ann", operator=True)
        await kept.keeper.room("d", "ann")

    asyncio.run(main())


def test_it_is_tried_again_once_its_files_have_changed(kept: Kept, tmp_path: Path) -> None:
    async def main() -> None:
        await refused(kept)
        kept.ground.failure = None
        await refused(kept)
        (tmp_path / "config.json").write_text("{}")
        assert await kept.keeper.room("b", "bob") is kept.keeper.loaded("b")
        assert loads(kept) == 2

    asyncio.run(main())


def test_its_operator_has_it_tried_again_as_it_is(kept: Kept) -> None:
    async def main() -> None:
        await refused(kept)
        kept.ground.failure = None
        await kept.keeper.load("b", "operator")
        assert await kept.keeper.room("b", "ann") is kept.keeper.loaded("b")

    asyncio.run(main())


def test_files_that_change_again_and_again_are_no_way_around_the_allowance(
    kept: Kept, tmp_path: Path
) -> None:
    async def main() -> None:
        await refused(kept)
        kept.ground.failure = None
        await kept.keeper.room("c", "ann")
        await kept.keeper.unload("c", "ann", operator=True)
        await kept.keeper.room("d", "ann")
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(ModelBusy, match="two models loaded"):
            await kept.keeper.room("b", "ann")

    asyncio.run(main())


def test_what_was_only_unreadable_is_tried_again_and_counts(kept: Kept) -> None:
    kept.ground.failure = MalformedCheckpoint("config.json cannot be read")
    kept.ground.failure.__cause__ = OSError(5, "Input/output error")

    async def main() -> None:
        await refused(kept)
        await refused(kept)
        assert loads(kept) == 2
        with pytest.raises(ModelBusy, match="two models loaded"):
            await kept.keeper.room("b", "ann")

    asyncio.run(main())


def test_a_first_pass_for_which_memory_lacked_says_nothing_of_the_files(kept: Kept) -> None:
    kept.ground.failure = UnusableModel("b", "no memory")
    kept.ground.failure.__cause__ = MemoryError()

    async def main() -> None:
        with pytest.raises(ModelBusy, match="too little memory"):
            await kept.keeper.room("b", "ann")

    asyncio.run(main())


def test_files_that_are_gone_are_looked_for_again(kept: Kept, tmp_path: Path) -> None:
    async def main() -> None:
        await refused(kept)
        shutil.rmtree(tmp_path)
        await refused(kept)
        assert loads(kept) == 2

    asyncio.run(main())
