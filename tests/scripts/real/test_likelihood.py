"""KL, perplexity and likeliest tokens against plain float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from scripts.real.measures.likelihood import NOTHING, likeliest, likeness, margins

_RNG = np.random.default_rng(3)
# More positions than are held at once.
_FIRST = _RNG.standard_normal((300, 6)).astype(np.float32)
_SECOND = (_FIRST + 0.3 * _RNG.standard_normal(_FIRST.shape)).astype(np.float32)
_TABLE = _RNG.standard_normal((17, 6)).astype(np.float32)
_TARGETS = _RNG.integers(0, 17, 300).tolist()


def _probabilities(states: np.ndarray) -> np.ndarray:
    weights = np.exp(states.astype(np.float64) @ _TABLE.astype(np.float64).T)
    return weights / weights.sum(1, keepdims=True)


def _tensors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.from_numpy(_FIRST), torch.from_numpy(_SECOND), torch.from_numpy(_TABLE)


def test_kl_and_shares_are_those_of_the_definition() -> None:
    p, q = _probabilities(_FIRST), _probabilities(_SECOND)
    found = likeness(*_tensors(), _TARGETS)
    assert found.positions == 300
    assert found.mean_kl == pytest.approx(float((p * np.log(p / q)).sum() / 300), rel=1e-5)
    assert found.same == int((p.argmax(1) == q.argmax(1)).sum())
    nats = -np.log(q[np.arange(300), _TARGETS]).mean()
    assert found.perplexity == pytest.approx(math.exp(nats), rel=1e-5)


def test_a_run_is_no_way_from_itself() -> None:
    first, _, table = _tensors()
    found = likeness(first, first, table)
    assert (found.share, found.mean_kl, found.nats) == (1.0, 0.0, 0.0)


def test_sums_of_parts_are_those_of_the_whole() -> None:
    first, second, table = _tensors()
    parts = NOTHING
    for part in (slice(0, 90), slice(90, 300)):
        parts += likeness(first[part], second[part], table, _TARGETS[part])
    whole = likeness(first, second, table, _TARGETS)
    assert (parts.positions, parts.same) == (whole.positions, whole.same)
    assert (parts.kl, parts.nats) == pytest.approx((whole.kl, whole.nats))


def test_likeliest_tokens_and_their_margins_are_those_of_all_logits() -> None:
    logits = _FIRST.astype(np.float64) @ _TABLE.astype(np.float64).T
    first, _, table = _tensors()
    assert likeliest(first, table) == logits.argmax(1).tolist()
    ordered = np.sort(logits, axis=1)
    assert margins(first, table) == pytest.approx(
        (ordered[:, -1] - ordered[:, -2]).tolist(), abs=1e-5
    )
