"""Linear layers that read the same input: one after the other, in the same block."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from split_server.engine.linears.prepacked import Place

# By the names that all families give them.
_TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))


def grouped(places: Iterable[Place]) -> list[list[Place]]:
    """The places in order, those with the same input together.

    A guess: whoever multiplies a group must look whether the input is the same indeed.
    """
    groups: dict[tuple[int, str, torch.Size, torch.dtype], list[Place]] = {}
    for place in places:
        weight = place.linear.weight
        key = (id(place.parent), leader(place.name), weight.shape[1:], weight.dtype)
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def in_order(names: Iterable[str]) -> list[str]:
    """Names of layers with the same input in the order in which families have them."""
    order = {name: at for names in _TOGETHER for at, name in enumerate(names)}
    return sorted(names, key=lambda name: order.get(name, 0))


def leader(name: str) -> str:
    """The first of the layers with which the one of this name shares its input."""
    return next((names[0] for names in _TOGETHER if name in names), name)
