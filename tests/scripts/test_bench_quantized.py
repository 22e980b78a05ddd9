"""The int8 benchmark: parts of a model are rounded and restored, and the right positions count."""

from __future__ import annotations

import pytest
import torch

from scripts.bench.quantized.parts import PARTS, Part, rounded, rows
from scripts.bench.quantized.score import scored


def _module() -> torch.nn.Module:
    torch.manual_seed(0)
    module = torch.nn.Module()
    for name in ("q_proj", "down_proj"):
        setattr(module, name, torch.nn.Linear(192, 4, bias=False).requires_grad_(False))
    return module


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_stays_near_and_leaves_the_model_as_it_was(part: Part) -> None:
    module, x = _module(), torch.randn(2, 192)
    before = {name: layer(x) for name, layer in module.named_children()}
    with rounded(module, part):
        for name, layer in module.named_children():
            changed = name in part.kinds and (
                part.inputs or (part.weights and name not in part.but)
            )
            assert torch.equal(layer(x), before[name]) is not bool(changed)
            assert torch.allclose(layer(x), before[name], atol=0.1)
    for name, layer in module.named_children():
        assert torch.equal(layer(x), before[name])


def test_blocks_have_scales_of_their_own() -> None:
    matrix = torch.tensor([[127.0, 1.0, 1.27, 0.01]])
    assert torch.equal(rows()(matrix), torch.tensor([[127.0, 1.0, 1.0, 0.0]]))
    assert torch.allclose(rows(block=2)(matrix), matrix)


def test_tokens_after_the_beginning_of_every_sequence_count() -> None:
    text = scored([[5, 6, 7], [8, 9, 10, 11]], [1, 3])
    assert text.places.tolist() == [0, 1, 5]
    assert text.following.tolist() == [6, 7, 11]
