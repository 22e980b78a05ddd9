"""A tree's branches say what transformers says of each branch alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scripts.bench.outside.causal import Causal

_TRUNK, _BRANCHES = [1, 5, 9], [[4, 2, 8], [7, 7], [3]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=24,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=4,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        initializer_range=0.5,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    return tmp_path


def _oracle(folder: Path, tokens: list[int]) -> torch.Tensor:
    from transformers import LlamaForCausalLM

    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        return model(torch.tensor([tokens])).logits[0, -1]


def test_branches_of_other_lengths_grow_together(folder: Path) -> None:
    model = Causal(folder, torch.float32)
    logits = model.trunk(_TRUNK)
    torch.testing.assert_close(logits, _oracle(folder, _TRUNK), atol=1e-4, rtol=1e-4)
    paths = torch.zeros((len(_BRANCHES), 3), dtype=torch.long)
    lengths = torch.zeros(len(_BRANCHES), dtype=torch.long)
    for at in range(3):
        rows = torch.tensor([row for row, way in enumerate(_BRANCHES) if len(way) > at])
        tokens = torch.tensor([way[at] for way in _BRANCHES if len(way) > at])
        logits, nodes = model.grow(tokens, paths[rows], lengths[rows])
        paths[rows, lengths[rows]] = nodes
        lengths[rows] += 1
        for row, said in zip(rows.tolist(), logits, strict=True):
            expected = _oracle(folder, _TRUNK + _BRANCHES[row][: at + 1])
            torch.testing.assert_close(said, expected, atol=1e-4, rtol=1e-4)


def test_a_new_trunk_forgets_the_branches(folder: Path) -> None:
    model = Causal(folder, torch.float32)
    first = model.trunk(_TRUNK)
    empty = torch.empty((1, 0), dtype=torch.long)
    model.grow(torch.tensor([4]), empty, torch.zeros(1, dtype=torch.long))
    assert torch.equal(model.trunk(_TRUNK), first)
