"""Hugging Face generates the same tokens over growing layers as over its own cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from split_server.kv.cache import KVCache
from tests import oracle
from tests.checkpoints import tiny_checkpoint

PROMPT = list(range(7, 27))
SHAPES: dict[str, dict[str, Any]] = {
    "qwen2": {},
    # Windows shorter than the prompt, so that a layer that forgot or kept too much would show.
    "gemma2": {"sliding_window": 8},
    "mistral": {"sliding_window": 8},
}


@pytest.fixture(scope="module", params=SHAPES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    family = request.param
    return tiny_checkpoint(family, tmp_path_factory.mktemp(family) / family, **SHAPES[family])


def generated(
    path: Path, ids: list[int], cache: DynamicCache, count: int = 60, beams: int = 1
) -> list[int]:
    """``ids`` and the ``count`` that follow them, whatever the tokens are."""
    prompt = torch.tensor([ids])
    out = oracle.model(path).generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        past_key_values=cache,
        max_new_tokens=count,
        min_new_tokens=count,
        num_beams=beams,
        do_sample=False,
    )
    return [int(token) for token in out[0]]


def test_greedy_tokens_are_identical(path: Path) -> None:
    mine = generated(path, PROMPT, KVCache())
    assert len(mine) == len(PROMPT) + 60
    assert mine == generated(path, PROMPT, DynamicCache())


def test_a_conversation_that_is_cropped_and_goes_on_is_identical(path: Path) -> None:
    replies = []
    for cache in (KVCache(), DynamicCache()):
        first = generated(path, PROMPT, cache)
        cache.crop(-30)
        edited = [*first[: cache.get_seq_length()], 5, 6, 7]
        replies.append(generated(path, edited, cache, count=30))
    assert replies[0] == replies[1]


def test_beams_are_refused_rather_than_mixed_up(path: Path) -> None:
    with pytest.raises(NotImplementedError, match="one sequence"):
        generated(path, PROMPT, KVCache(), beams=3)


def test_a_cache_that_was_reset_starts_anew(path: Path) -> None:
    cache = KVCache()
    first = generated(path, PROMPT, cache)
    cache.reset()
    assert generated(path, PROMPT, cache) == first
