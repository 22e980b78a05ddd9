"""A short race of the ways to keep matrices, over some layers of a loaded model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch

from split_server.engine.giving_way import working_seconds
from split_server.engine.linears.choice import threads_set
from split_server.engine.linears.int4.quantize import int4_linear
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.prepacked import (
    PackedLinear,
    Place,
    linear_places,
    packing_fault,
)
from split_server.engine.linears.quantize import quantized
from split_server.engine.linears.siblings import grouped
from split_server.engine.model.packed import padded

# Layers are taken until their matrices have this many bytes, and whole groups of them.
_SAMPLE_BYTES = 32 << 20
_SESSIONS = (1, 16)
_ROUNDS = 9

_Group = list[torch.nn.Linear]
_Layers = Sequence[torch.nn.Module]


class Laps(NamedTuple):
    """Milliseconds of the products of some layers, by way (none, int8, int4) and by how many
    ``sessions`` decode; a way that is not possible here is left out.
    """

    sessions: tuple[int, ...]
    ways: Mapping[str, tuple[float, ...]]


def race(module: torch.nn.Module, threads: int) -> Laps:
    """The least of some rounds in turn; ``module`` is not changed."""
    groups = _sample(grouped(linear_places(module)))
    if not groups:
        return Laps(_SESSIONS, {})
    ways = {way: make(groups) for way, make in _possible(groups[0][0]).items()}
    best: dict[tuple[str, int], float] = {}
    with threads_set(threads), torch.inference_mode():
        for sessions in _SESSIONS * _ROUNDS:
            for way, layers in ways.items():
                # Only the kernel for four bits takes rows as they are.
                rows = sessions if way == "int4" else padded(sessions)
                lap = _lap(groups, layers, rows)
                best[way, sessions] = min(best.get((way, sessions), lap), lap)
    return Laps(_SESSIONS, {way: tuple(best[way, count] for count in _SESSIONS) for way in ways})


def _sample(groups: Sequence[Sequence[Place]]) -> list[_Group]:
    chosen: list[_Group] = []
    size = 0
    for group in groups:
        if size < _SAMPLE_BYTES:
            chosen.append([place.linear for place in group])
            size += sum(linear.weight.nbytes for linear in chosen[-1])
    return chosen


def _possible(first: torch.nn.Linear) -> dict[str, Callable[[list[_Group]], _Layers]]:
    found: dict[str, Callable[[list[_Group]], _Layers]] = {
        "none": _plain if packing_fault(first) else _packed
    }
    if not product_fault():
        found["int8"] = lambda groups: [layer for group in groups for layer in quantized(group)]
    if not int4_fault(first.weight.dtype):
        found["int4"] = lambda groups: [int4_linear(one, None) for one in _plain(groups)]
    return found


def _plain(groups: list[_Group]) -> list[torch.nn.Linear]:
    return [linear for group in groups for linear in group]


def _packed(groups: list[_Group]) -> _Layers:
    return [PackedLinear(linear.weight, linear.bias) for linear in _plain(groups)]


def _lap(groups: list[_Group], layers: _Layers, rows: int) -> float:
    """Milliseconds of one product of every layer; those of a group have the same input."""
    inputs = [
        torch.ones(1, rows, group[0].in_features, dtype=group[0].weight.dtype) for group in groups
    ]
    following = iter(layers)
    begin = working_seconds()
    for group, x in zip(groups, inputs, strict=True):
        for _ in group:
            next(following)(x)
    return 1e3 * (working_seconds() - begin)
