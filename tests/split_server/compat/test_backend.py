"""The decode loop beside the engine: the same tokens as generate, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.head_spec import HeadSpec
from split_client.generation.lm_head import ExactLMHead
from split_client.generation.loop import Limits, TokenEvent, decode
from split_client.generation.rows import WeightRows
from split_client.generation.sampler import Sampler
from split_client.generation.sampling_params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.tokenizer import ModelTokenizer
from split_server.compat.backend import EngineBackend
from split_server.engine.engine import Engine
from split_server.engine.runner import ModelRunner
from split_wire.errors import ContextOverflow, StartBeyondCache
from tests import oracle
from tests.engines import tiny_backbone

PROMPT = list(range(11, 31))
COUNT = 12


@pytest.fixture
def engine(family_path: Path) -> Iterator[Engine]:
    backbone = tiny_backbone(family_path)
    engine = Engine(ModelRunner(backbone), backbone.info)
    engine.start()
    yield engine
    asyncio.run(engine.stop())


def embed(path: Path, ids: list[int]) -> NDArray[np.float32]:
    values: NDArray[np.float32] = oracle.embeddings(path, ids).numpy()
    return values


def exact_head(path: Path, folder: Path) -> ExactLMHead:
    weight = oracle.model(path).get_output_embeddings().weight.detach().numpy()
    (folder / "rows").write_bytes(weight.astype("<f4").tobytes())
    rows = WeightRows.open(folder / "rows", "f32", *weight.shape)
    return ExactLMHead.open(rows, HeadSpec(), screen_path=None)


def greedy(
    sequence: Sequence, head: ExactLMHead, path: Path, prompt: list[int], count: int
) -> list[int]:
    tokenizer = ModelTokenizer.open(path / "tokenizer.json", 1000)
    limits = Limits(frozenset({0, 2}), count)
    sampler = Sampler(head, SamplingParams(temperature=0.0, seed=0))
    events = decode(sequence, sampler, tokenizer, prompt, limits)
    return [event.token for event in events if isinstance(event, TokenEvent)]


def test_greedy_ids_equal_generate_also_after_a_rollback(
    engine: Engine, family_path: Path, tmp_path: Path
) -> None:
    head = exact_head(family_path, tmp_path)
    sequence = Sequence(EngineBackend(engine), lambda ids: embed(family_path, ids))
    edited = [*PROMPT[:7], 50, 51]
    for prompt in (PROMPT, edited, PROMPT):
        ids = greedy(sequence, head, family_path, prompt, COUNT)
        assert ids == oracle.greedy(family_path, prompt, COUNT)
    assert sequence.counters.rows_reused > 0


def test_a_start_beyond_the_cache_is_refused(engine: Engine, family_path: Path) -> None:
    with pytest.raises(StartBeyondCache):
        EngineBackend(engine).step(1, embed(family_path, [5]))


def test_more_positions_than_the_context_are_refused(engine: Engine, family_path: Path) -> None:
    with pytest.raises(ContextOverflow):
        EngineBackend(engine).step(0, embed(family_path, [5] * 513))


def test_closing_frees_the_cache(engine: Engine, family_path: Path) -> None:
    backend = EngineBackend(engine)
    backend.step(0, embed(family_path, PROMPT))
    backend.close()
    with pytest.raises(StartBeyondCache):
        backend.step(len(PROMPT), embed(family_path, [5]))
