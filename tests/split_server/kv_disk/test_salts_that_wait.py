"""A newcomer's salt comes from the shared state, off the event loop, or from memory for now."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from split_server.kv_disk import tier as tier_module
from split_server.kv_disk.salts import SaltFile
from tests.patience import PATIENCE
from tests.split_server.kv_disk.tiers import Place


def test_a_newcomers_salt_is_that_of_the_neighbour(tmp_path: Path) -> None:
    one = Place(tmp_path)
    other = Place(tmp_path)
    drawn = one.names.of("alice")
    asyncio.run(other.tier.ready("alice"))
    assert other.tier.salts.stored("alice")
    assert other.names.of("alice") == drawn


def test_a_state_that_hangs_keeps_no_newcomer_waiting_and_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, hangs = Place(tmp_path), threading.Event()
    draw = SaltFile.draw

    def slow(salts: SaltFile, principal: str) -> object:
        assert hangs.wait(PATIENCE)
        return draw(salts, principal)

    monkeypatch.setattr(tier_module, "_SALT_PATIENCE", 0.01)

    async def scenario() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(SaltFile, "draw", slow)
            await place.tier.ready("alice")
            # The next one does not wait either.
            await place.tier.ready("bob")
            for name in ("alice", "bob"):
                assert place.tier.salts.known(name)
                assert not place.tier.salts.stored(name)
            hangs.set()
        monkeypatch.setattr(tier_module, "_SALT_PATIENCE", PATIENCE)
        place.clock.now += 300
        await place.tier.ready("alice")
        await place.tier.ready("bob")

    asyncio.run(scenario())
    assert place.tier.salts.stored("alice")
    assert place.tier.salts.stored("bob")
    place.put("chat", 100, "bob")
    assert place.start().found("chat", 100, "bob") == 100
