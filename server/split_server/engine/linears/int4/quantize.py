"""Linear layers of a loaded model replaced by those of four bits a weight."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from split_server.engine.linears.int4.fitting import fitted, nearest
from split_server.engine.linears.int4.layer import Int4Linear
from split_server.engine.linears.int4.matrix import BLOCK, GROUP, Int4Matrix
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.linears.prepacked import linear_places
from split_server.errors import UnusableDevice

# Values that are float32 at a time while a matrix is quantized.
_AT_ONCE = 1 << 18

Counts = dict[torch.nn.Module, torch.Tensor]


def require_int4(device: torch.device, dtype: torch.dtype) -> None:
    """Raise UnusableDevice when this machine has no product with matrices of four bits."""
    fault = f"not for {device.type} devices" if device.type != "cpu" else int4_fault(dtype)
    if fault:
        raise UnusableDevice(f"--quantize int4 is not possible here: {fault}")


def int4_linears(module: torch.nn.Module, counts: Counts | None) -> str:
    """Replace the linear layers of ``module`` whose input is a multiple of GROUP wide; what they
    are then.

    ``counts``: of each layer, what an error of each of its columns counts [in]; None rounds to the
    nearest. One matrix after the other, and out of ``counts``, so that the model is never held
    twice.
    """
    places = list(linear_places(module))
    total, quantized = len(places), 0
    while places:
        # Taken out of the list, so that the plain matrix is freed before the next is quantized.
        place = places.pop()
        if place.linear.in_features % GROUP == 0:
            own = None if counts is None else counts.pop(place.linear)
            place.put(int4_linear(place.linear, own))
            quantized += 1
    return "int4" + (f" ({quantized} of {total})" if quantized < total else "")


def int4_linear(linear: torch.nn.Linear, counts: torch.Tensor | None) -> Int4Linear:
    """One for ``linear``; ``counts`` [in] as those of ``int4_linears``."""
    weight = linear.weight.detach()
    rows, columns = weight.shape
    matrix = Int4Matrix(rows, columns, GROUP, weight.dtype)
    for begin, part in _parts(weight):
        groups = part.float().view(len(part), -1, GROUP)
        if counts is None:
            found = nearest(groups, weight.dtype)
        else:
            found = fitted(groups, counts.view(-1, GROUP), weight.dtype)
        matrix.put(
            begin, found.values.view_as(part), found.scales.squeeze(-1), found.zeros.squeeze(-1)
        )
    return Int4Linear(matrix, linear.bias)


def held_bytes(rows: int, columns: int, item_bytes: int) -> int:
    """Bytes of the layer with a matrix [rows, columns], less its bias."""
    if columns % GROUP:
        return rows * columns * item_bytes
    return Int4Matrix.held_bytes(rows, columns, GROUP, item_bytes)


def _parts(weight: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """Its rows with the number of the first, whole blocks at a time."""
    step = max(_AT_ONCE // weight.shape[1] // BLOCK, 1) * BLOCK
    for begin in range(0, len(weight), step):
        yield begin, weight[begin : begin + step]
