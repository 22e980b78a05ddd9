"""Scores of tokens against log_softmax in float64, however small the blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from split_client.generation.errors import TokenIdOutOfRange
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_server.compat.scoring.blocks import SCORE_BYTES, BlockScores

ROWS, HIDDEN, STATES = 500, 16, 37


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(ROWS, HIDDEN)).astype("<f4")


@pytest.fixture
def head(tmp_path: Path, weights: np.ndarray) -> ExactLMHead:
    path = tmp_path / "head.bin"
    path.write_bytes(weights.tobytes())
    return ExactLMHead(WeightRows.open(path, "f32", ROWS, HIDDEN), HeadSpec())


@pytest.mark.parametrize("limit", [1, 12 * ROWS * 5, SCORE_BYTES])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_scores_are_those_of_all_logits(
    head: ExactLMHead, weights: np.ndarray, limit: int, count: int
) -> None:
    random = np.random.default_rng(4)
    states = random.normal(size=(STATES, HIDDEN)).astype(np.float32)
    tokens = random.integers(0, ROWS, STATES).tolist()
    logits = states.astype(np.float64) @ weights.astype(np.float64).T
    wanted = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    told = BlockScores(head, limit).of(states, tokens, count)
    assert len(told) == STATES
    for row, token, scores in zip(wanted, tokens, told, strict=True):
        assert scores.logprob == pytest.approx(row[token], abs=1e-4)
        best = np.argsort(-row)[:count]
        assert [one for one, _ in scores.top] == best.tolist()
        np.testing.assert_allclose([value for _, value in scores.top], row[best], atol=1e-4)


def test_a_block_is_as_small_as_its_bytes_allow(head: ExactLMHead) -> None:
    assert BlockScores(head, 1).rows == 1
    assert BlockScores(head, 12 * ROWS * 5).rows == 5
    # The largest vocabulary that is common, whose logits of 1,024 rows have 622 MB.
    assert SCORE_BYTES // (12 * 151_936) >= 16


def test_a_token_that_is_none_is_refused(head: ExactLMHead) -> None:
    with pytest.raises(TokenIdOutOfRange):
        BlockScores(head).of(np.zeros((1, HIDDEN), np.float32), [ROWS], 0)
