"""Rows over shared and own positions are those of one attention over all of them."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import pytest
import torch

from split_server.engine.model.attention import Masks, visible
from split_server.engine.model.shared import Own, attend_shared
from split_server.engine.model.sharing_gain import sharing_rule
from split_server.kv.sharing_rule import SharingRule
from tests.engines import tiny_backbone

_SCALING = 0.3


def expected(own: Own, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """In float64, head by head: [1, n, heads, D]."""
    whole_keys = torch.cat((keys, own.keys), 2).double()
    whole_values = torch.cat((values, own.values), 2).double()
    rep = own.query.shape[1] // keys.shape[1]
    whole_keys, whole_values = (x.repeat_interleave(rep, 1) for x in (whole_keys, whole_values))
    scores = own.query.double() @ whole_keys.transpose(2, 3) * _SCALING
    seen = visible(own.query.shape[2], whole_keys.shape[2], None, keys.device)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return (weights @ whole_values).transpose(1, 2)


@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float32, 2e-6), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)]
)
@pytest.mark.parametrize("rep", [1, 7])
def test_both_parts_together_are_one_attention(dtype: torch.dtype, close: float, rep: int) -> None:
    torch.manual_seed(4)
    kv_heads, width, shared = 2, 16, 40

    def random(heads: int, positions: int) -> torch.Tensor:
        return torch.randn(1, heads, positions, width).to(dtype)

    keys, values = random(kv_heads, shared), random(kv_heads, shared)
    sessions = [
        Own(random(rep * kv_heads, rows), random(kv_heads, length), random(kv_heads, length))
        for rows, length in ((1, 1), (1, 33), (5, 5), (3, 17))
    ]
    found = attend_shared(keys, values, sessions, _SCALING, Masks())
    for own, rows in zip(sessions, found, strict=True):
        right = expected(own, keys, values)
        assert rows.shape == right.shape
        assert (rows.double() - right).abs().max() < close


def test_from_how_many_sessions_on_it_pays_is_measured_by_length(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    # Each reading of the clock is a second later: both ways take the same, which is no gain.
    assert sharing_rule(backbone, partial(next, itertools.count())) is None
    # Of three readings for each try the first two are a second apart, so together takes no time.
    apart_alone = itertools.accumulate(itertools.cycle([0.0, 1.0, 0.0]))
    assert sharing_rule(backbone, partial(next, apart_alone)) == SharingRule(((512, 4),))


def test_a_beginning_that_is_too_short_for_a_gain_is_measured_at_twice_the_length(
    tiny_path: Path,
) -> None:
    steps = [
        *[0.0, 1.0, 1.0] * 7,  # 512 positions, 16 sessions: no gain
        *[0.0, 1.0, 0.0] * 7,  # 1,024: 16 sessions gain
        *[0.0, 1.0, 1.0] * 7,  # 8 do not
        *[0.0, 1.0, 0.0] * 7,  # 2,048: 8 do
        *[0.0, 1.0, 0.0] * 7,  # and 4
    ]
    clock = partial(next, itertools.accumulate(steps))
    assert sharing_rule(tiny_backbone(tiny_path), clock) == SharingRule(((1024, 16), (2048, 4)))
