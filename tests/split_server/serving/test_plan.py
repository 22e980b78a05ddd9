"""The plan counts what tokenizing takes, here and in the process beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.checkpoint.folder import open_checkpoint
from split_server.compat.responses.kept import KEPT_BYTES
from split_server.compat.scoring.blocks import SCORE_BYTES
from split_server.compat.text_process import TEXT_BYTES, process_bytes
from split_server.memory import limit
from split_server.memory.limit import Room
from split_server.memory.planner import RESERVE
from split_server.serving.config import ServerConfig
from split_server.serving.plan import plan_memory

FREE = 4 << 30


def test_what_texts_take_is_no_room_for_caches(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit, "_machine", lambda: Room(FREE, "machine", own=False))
    monkeypatch.setattr(limit, "cgroup_room", lambda: None)
    config, checkpoint = ServerConfig(), open_checkpoint(str(tiny_path))
    with_texts, _ = plan_memory(config, checkpoint)
    without, _ = plan_memory(config, checkpoint, texts=False)
    assert (without.reserve, without.room().free) == (RESERVE, FREE)
    assert with_texts.reserve == RESERVE + TEXT_BYTES + KEPT_BYTES + SCORE_BYTES
    assert with_texts.room().free == FREE - process_bytes(tiny_path / "tokenizer.json")


def test_a_limit_of_this_process_alone_does_not_count_the_other(tiny_path: Path) -> None:
    config = ServerConfig(memory_limit=FREE)
    with_texts, _ = plan_memory(config, open_checkpoint(str(tiny_path)))
    [own] = [room for room in with_texts.limit.rooms() if room.source == "--memory-limit"]
    assert FREE - own.free < FREE // 2
