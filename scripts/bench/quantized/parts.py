"""Parts of quantization, each alone, in a float32 model that stays exact otherwise.

A part rounds weights or inputs of some linear layers to what whole numbers would hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

Rounding = Callable[[torch.Tensor], torch.Tensor]
KINDS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_TINY = 1e-30


@dataclass(frozen=True)
class Part:
    """``weights`` and ``inputs``: None stays exact; ``kinds``: of which layers; ``but``: exact all
    the same.

    ``item_bytes``: bytes a value that weights would take, of the layers in ``but`` two.
    """

    name: str
    weights: Rounding | None = None
    inputs: Rounding | None = None
    kinds: tuple[str, ...] = KINDS
    but: tuple[str, ...] = ()


def _root_mean_square(matrix: torch.Tensor) -> torch.Tensor:
    return matrix.square().mean(dim=0).sqrt()


def _largest(matrix: torch.Tensor) -> torch.Tensor:
    return matrix.abs().amax(dim=0)


def rows(bits: int = 8, block: int = 0) -> Rounding:
    """One scale for a row, or for each ``block`` of its values."""
    largest = 2 ** (bits - 1) - 1

    def rounded(matrix: torch.Tensor) -> torch.Tensor:
        blocks = matrix.unflatten(-1, (-1, block)) if block else matrix
        scale = blocks.abs().amax(dim=-1, keepdim=True).div(largest).clamp_(min=_TINY)
        return (blocks / scale).round_().mul_(scale).view(matrix.shape)

    return rounded


def range_of_rows(matrix: torch.Tensor) -> torch.Tensor:
    """One byte from the least to the largest value of a row, 0 among them."""
    low = matrix.amin(dim=-1, keepdim=True).clamp_(max=0)
    high = matrix.amax(dim=-1, keepdim=True).clamp_(min=0)
    scale = (high - low).div_(255).clamp_(min=_TINY)
    return (matrix / scale).round_().mul_(scale)


def columns(power: float, size: Rounding = _root_mean_square) -> Rounding:
    """One scale for a row, and for a column its ``size`` to the ``power``."""

    def rounded(matrix: torch.Tensor) -> torch.Tensor:
        scale = size(matrix).clamp_(min=_TINY).pow(power)
        return rows()(matrix / scale).mul_(scale)

    return rounded


def without_outliers(count: int) -> Rounding:
    """One scale for a row; the ``count`` columns with the largest weights stay as they are."""

    def rounded(matrix: torch.Tensor) -> torch.Tensor:
        kept = matrix.abs().amax(dim=0).topk(count).indices
        others = matrix.index_fill(1, kept, 0.0)
        return rows()(others).index_copy_(1, kept, matrix[:, kept])

    return rounded


_MIXED = ("v_proj", "down_proj")
PARTS = (
    Part("everything, whole rows", rows(), rows()),
    Part("inputs alone", inputs=rows()),
    *(Part(f"inputs of {kind}", inputs=rows(), kinds=(kind,)) for kind in KINDS),
    Part("inputs, from least to largest value", inputs=range_of_rows),
    Part("inputs, 16 bits", inputs=rows(bits=16)),
    Part("weights alone", rows()),
    *(Part(f"weights of {kind}", rows(), kinds=(kind,)) for kind in KINDS),
    Part("weights, a scale for each 32", rows(block=32)),
    Part("weights, a scale for each 64", rows(block=64)),
    Part("weights, a scale for each 192", rows(block=192)),
    Part("weights but v_proj and down_proj", rows(), but=_MIXED),
    Part("weights but 8 outlier columns", without_outliers(8)),
    Part("weights, scaled columns", columns(0.5)),
    Part("weights, columns of equal size", columns(1.0)),
    Part("weights, columns scaled by their largest", columns(0.5, _largest)),
    Part("16 bits, scaled columns", columns(0.5), rows(bits=16)),
)


@contextmanager
def rounded(module: torch.nn.Module, part: Part) -> Iterator[None]:
    """``module`` with this part rounded; as before afterwards."""
    handles, exact = [], []
    for name, layer in module.named_modules():
        kind = name.rpartition(".")[2]
        if not isinstance(layer, torch.nn.Linear) or kind not in part.kinds:
            continue
        if part.inputs is not None:
            handles.append(layer.register_forward_pre_hook(_before(part.inputs)))
        if part.weights is not None and kind not in part.but:
            exact.append((layer, layer.weight.data))
            layer.weight.data = part.weights(layer.weight.data)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for layer, weight in exact:
            layer.weight.data = weight


def _before(
    rounding: Rounding,
) -> Callable[[torch.nn.Module, tuple[torch.Tensor, ...]], tuple[torch.Tensor, ...]]:
    return lambda _, inputs: (rounding(inputs[0]),)
