"""Mean squares of what linear layers read: those of the inputs themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.module import load_module
from split_server.engine.model.moments import input_moments, random_rows
from split_server.errors import MalformedCheckpoint

_TABLE = "model.embed_tokens.weight"


def test_rows_are_those_of_the_table_and_always_the_same(tiny_path: Path) -> None:
    table = load_file(tiny_path / "model.safetensors")[_TABLE]
    tensor = read_checkpoint(tiny_path, "tiny").tensors[_TABLE]
    rows = random_rows(tensor)
    assert torch.equal(rows, random_rows(tensor))
    known = {tuple(row) for row in table.tolist()}
    assert all(tuple(row) in known for row in rows.flatten(0, 1).tolist())
    assert len({tuple(row) for row in rows.flatten(0, 1).tolist()}) > 100


def test_moments_are_mean_squares_of_inputs(family_path: Path) -> None:
    checkpoint = read_checkpoint(family_path, "tiny")
    module = load_module(checkpoint, torch.float32)
    rows = random_rows(checkpoint.tensors[_TABLE])
    seen: list[torch.Tensor] = []
    down = module.layers[1].mlp.down_proj
    handle = down.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][0]))
    found = input_moments(module, rows)
    handle.remove()
    torch.testing.assert_close(found[down], torch.cat(seen).square().mean(dim=0))
    assert len(found) == 21
    attention = module.layers[0].self_attn
    assert torch.equal(found[attention.q_proj], found[attention.v_proj])
    assert not any(layer._forward_pre_hooks for layer in found)


def test_inputs_beyond_the_dtype_make_all_columns_count_the_same(tiny_path: Path) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    module = load_module(checkpoint, torch.float32)
    rows = random_rows(checkpoint.tensors[_TABLE])
    module.layers[0].mlp.gate_proj.weight.data.fill_(1e38)
    found = input_moments(module, rows)
    assert torch.equal(found[module.layers[0].mlp.down_proj], torch.ones(128))


def test_a_table_that_is_cut_short_is_refused(tiny_path: Path, tmp_path: Path) -> None:
    tensor = read_checkpoint(tiny_path, "tiny").tensors[_TABLE]
    (tmp_path / "cut").write_bytes(tensor.file.read_bytes()[: tensor.offset + 10])
    with pytest.raises(MalformedCheckpoint, match="cut short"):
        random_rows(replace(tensor, file=tmp_path / "cut"))
