"""Sessions of the original protocol over a real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from split_server.sessions.making_way import StoreLimits
from split_wire.errors import UnknownSession
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import run, serving

PROMPT = list(range(11, 31))
COUNT = 12


def test_named_sessions_append_at_the_end_and_equal_generate(family_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(family_path, max_rows=8) as service:
            ids: list[int] = []
            rows, incremental = PROMPT, False
            for _ in range(COUNT):
                embeddings = Tensor.from_f32(oracle.embeddings(family_path, rows).numpy(), "f32")
                done = await service.original.append("local", "chat", embeddings, incremental)
                assert done.incremental == incremental
                assert done.cached_before == (len(PROMPT) + len(ids) - 1 if incremental else 0)
                assert len(done.hidden) == (1 if incremental else len(PROMPT))
                logits = oracle.head(family_path, torch.from_numpy(done.hidden[-1:].copy()))
                ids.append(int(logits[0].argmax()))
                rows, incremental = ids[-1:], True
            return ids

    assert run(scenario()) == oracle.greedy(family_path, PROMPT, COUNT)


def test_a_name_never_seen_starts_anew_and_says_so(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            rows = Tensor.from_f32(oracle.embeddings(tiny_path, PROMPT).numpy(), "f32")
            done = await service.original.append("local", "new", rows, True)
            assert (done.incremental, done.cached_before) == (False, 0)
            assert len(done.hidden) == len(PROMPT)

    run(scenario())


def test_a_named_session_that_was_evicted_is_never_continued_silently(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, limits=StoreLimits(max_sessions=1)) as service:
            rows = Tensor.from_f32(oracle.embeddings(tiny_path, PROMPT).numpy(), "f32")
            await service.original.append("local", "chat", rows, False)
            await service.original.append("local", "other", rows, False)
            with pytest.raises(UnknownSession):
                await service.original.append("local", "chat", rows, True)

    run(scenario())
