"""A model with its channels in another order computes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scripts.bench.quantized.shuffled import shuffled
from tests import oracle
from tests.checkpoints import tiny_checkpoint


@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_logits_are_the_same_and_weights_lie_elsewhere(tmp_path: Path, family: str) -> None:
    source = tiny_checkpoint(family, tmp_path / "source")
    target = shuffled(source, tmp_path / "target")
    ids = list(range(3, 40))
    found, expected = oracle.logits(target, ids), oracle.logits(source, ids)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
    ours, theirs = (oracle.model(path).state_dict() for path in (target, source))
    for name in ("self_attn.q_proj", "self_attn.o_proj", "mlp.down_proj"):
        layer = f"model.layers.1.{name}.weight"
        assert not torch.equal(ours[layer], theirs[layer])
        assert torch.equal(
            ours[layer].flatten().sort().values, theirs[layer].flatten().sort().values
        )
