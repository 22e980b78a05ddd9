"""Linear layers with int8 weights: half the bytes of bfloat16, at some loss of accuracy.

Weights are whole numbers with a scale for each row and each column, inputs 16 bits with a scale for
each row. Products of whole numbers are summed exactly, so a row's result does not depend on the
other rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from split_server.engine.linears.integers import choice
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.prepacked import linear_places
from split_server.engine.linears.shared import SharedPart, stacked_bias
from split_server.engine.linears.siblings import grouped, leader
from split_server.engine.linears.stacked import StackedProduct
from split_server.errors import UnusableDevice


class QuantizedLinear(SharedPart):
    """About ``x @ weight.T + bias``, for one of the matrices of a ``StackedProduct``.

    A row that is not finite stays so. The packed matrix can be neither copied, pickled nor moved.
    """


def quantized(linears: Sequence[torch.nn.Linear]) -> list[QuantizedLinear]:
    """One for each of ``linears``, which read the same input."""
    bias = stacked_bias(linears, torch.float32)
    product = StackedProduct([linear.weight for linear in linears], bias)
    return [
        QuantizedLinear(product, index, linear.out_features) for index, linear in enumerate(linears)
    ]


def quantize_linears(module: torch.nn.Module) -> str:
    """Replace every linear layer of ``module`` by a QuantizedLinear; what they are then.

    Those with the same input together, one group after the other, so that the model is never held
    twice. Raises UnusableDevice when this machine has no exact product of bytes.
    """
    groups = grouped(linear_places(module))
    device = next(module.parameters()).device.type
    fault = f"not for {device} devices" if device != "cpu" else product_fault()
    if fault:
        raise UnusableDevice(f"--quantize int8 is not possible here: {fault}")
    while groups:
        # Taken out of the list, so that plain matrices are freed before the next are quantized.
        group = groups.pop()
        for place, layer in zip(group, quantized([p.linear for p in group]), strict=True):
            place.put(layer)
    return "int8"


def held_bytes(name: str, rows: int, columns: int) -> int:
    """Bytes of the layer of this name with a matrix [rows, columns], less its bias.

    The first layer of a group counts the scales of columns, which all of them share.
    """
    shared = columns * 4 if leader(name) == name else 0
    return choice.held_bytes(rows, columns) + shared
