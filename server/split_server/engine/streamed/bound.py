"""A decoder layer of Hugging Face's over tensors that come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from split_server.engine.linears.integers.onednn import OneDnnProduct
from split_server.engine.linears.prepacked import Place, linear_places
from split_server.engine.linears.quantize import QuantizedLinear
from split_server.engine.linears.siblings import in_order
from split_server.engine.linears.stacked import StackedProduct
from split_server.engine.streamed.integers import BIAS, COLUMNS, PACKED, SCALES, group_name

# The tensors of the layer in one slot.
View = Mapping[str, torch.Tensor]
# Have the layer compute with the slot of this number.
Bind = Callable[[int], None]


class _Part(QuantizedLinear):
    """One of the layers of a group, whose product is another one in each slot."""

    def bind(self, product: StackedProduct) -> None:
        self._product = product


def bound(layer: torch.nn.Module, views: Sequence[View]) -> Bind:
    """What has ``layer`` compute with one of ``views``; its matrices are replaced where those are
    int8.
    """
    parts: list[tuple[list[_Part], list[StackedProduct]]] = []
    for name, places in _groups(layer).items():
        if name + PACKED in views[0]:
            sizes = [len(place.linear.weight) for place in places]
            parts.append(_replaced(places, [_product(view, name, sizes) for view in views]))
    parameters = [
        (parameter, [view[name] for view in views]) for name, parameter in layer.named_parameters()
    ]

    def bind(slot: int) -> None:
        for parameter, tensors in parameters:
            parameter.data = tensors[slot]
        for group, products in parts:
            for part in group:
                part.bind(products[slot])

    return bind


def _groups(layer: torch.nn.Module) -> dict[str, list[Place]]:
    """Linear layers with the same input, in their order, by the names of the file."""
    paths = {id(module): path for path, module in layer.named_modules()}
    found: dict[str, dict[str, Place]] = {}
    for place in linear_places(layer):
        found.setdefault(group_name(paths[id(place.parent)], place.name), {})[place.name] = place
    return {name: [places[one] for one in in_order(places)] for name, places in found.items()}


def _product(view: View, name: str, sizes: Sequence[int]) -> StackedProduct:
    matrix = OneDnnProduct(view[name + PACKED], view[name + SCALES], is_packed=True)
    return StackedProduct.of(sizes, matrix, view[name + COLUMNS], view.get(name + BIAS))


def _replaced(
    places: Sequence[Place], products: list[StackedProduct]
) -> tuple[list[_Part], list[StackedProduct]]:
    parts = [
        _Part(products[0], index, place.linear.out_features) for index, place in enumerate(places)
    ]
    for place, part in zip(places, parts, strict=True):
        place.put(part)
    return parts, products
