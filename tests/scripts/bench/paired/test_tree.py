"""The audit's search may ask the outside attack's engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from scripts.bench.outside.causal import Causal
from scripts.bench.paired.tree import Tree

LEAD, BEFORE = (31, 31, 1), (1, 5, 9)
TOKENS = np.array([2, 8, 30])


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


def test_texts_of_a_search_are_as_likely_as_the_model_says_of_each_alone(folder: Path) -> None:
    model = Causal(folder, torch.float32)
    tree = Tree(model, BEFORE, len(LEAD))
    places = [[()], [(4,), (7,)], [(7, 2), (4, 8), (4, 2)]]
    # The second search begins anew.
    for _ in range(2):
        for texts in places:
            found = tree.after(np.array([(*LEAD, *text) for text in texts], np.int64), TOKENS)
            assert found.shape == (len(texts), len(TOKENS))
            alone = Causal(folder, torch.float32)
            for text, row in zip(texts, found, strict=True):
                wanted = alone.trunk([*BEFORE, *text]).log_softmax(-1)[TOKENS]
                np.testing.assert_allclose(row, wanted.numpy(), atol=1e-4)
