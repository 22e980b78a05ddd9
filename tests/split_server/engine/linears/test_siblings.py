"""Layers with the same input: by their names, within one block."""

from __future__ import annotations

import torch

from split_server.engine.linears.prepacked import linear_places
from split_server.engine.linears.siblings import grouped, leader


def _block(**widths: int) -> torch.nn.Module:
    block = torch.nn.Module()
    for name, width in widths.items():
        setattr(block, name, torch.nn.Linear(width, 4))
    return block


def _names(module: torch.nn.Module) -> list[list[str]]:
    return [[place.name for place in group] for group in grouped(linear_places(module))]


def test_queries_keys_and_values_are_together_and_so_are_gate_and_up() -> None:
    attention = _block(q_proj=8, k_proj=8, v_proj=8, o_proj=8)
    mlp = _block(gate_proj=8, up_proj=8, down_proj=8)
    model = torch.nn.ModuleList([attention, mlp])
    assert _names(model) == [
        ["q_proj", "k_proj", "v_proj"],
        ["o_proj"],
        ["gate_proj", "up_proj"],
        ["down_proj"],
    ]


def test_layers_of_two_blocks_are_apart() -> None:
    assert _names(torch.nn.ModuleList([_block(q_proj=8), _block(q_proj=8)])) == [["q_proj"]] * 2


def test_layers_of_other_widths_or_names_are_apart() -> None:
    assert _names(_block(q_proj=8, k_proj=6)) == [["q_proj"], ["k_proj"]]
    assert _names(_block(fc1=8, fc2=8)) == [["fc1"], ["fc2"]]


def test_a_group_goes_by_its_first_name() -> None:
    assert [leader(name) for name in ("v_proj", "up_proj", "o_proj")] == [
        "q_proj",
        "gate_proj",
        "o_proj",
    ]
