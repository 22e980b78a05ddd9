"""Linear layers with int8 weights: half the bytes of bfloat16, at some loss of accuracy.

Weights have one scale per output channel, inputs one per row, both symmetric (vector-wise
quantization: Dettmers et al. 2022, LLM.int8(), https://arxiv.org/abs/2208.07339, section 2.1).
Products of integers are summed exactly, so a row's result does not depend on the other rows.
"""

from __future__ import annotations

import torch

from split_server.engine.linears.prepacked import OPERATOR_ERRORS, linear_places
from split_server.errors import UnusableDevice

_LARGEST = 127
# oneDNN multiplies unsigned by signed bytes; for signed inputs it takes a path that is slower by
# orders of magnitude. So inputs are shifted by half of the range, and the operator shifts back.
_SHIFT = 128
_TEST_ROWS = (1, 3, 17, 128)
_TEST_SHAPE = (48, 320)
# Rows and channels of zeros are divided by this.
_SMALLEST = torch.finfo(torch.float32).tiny


class _IntegerProduct:
    """``scales * ((rows - 128) @ weight.T)`` for bytes rows [..., in] and int8 weight [out, in]."""

    def __init__(self, weight: torch.Tensor, scales: torch.Tensor) -> None:
        self._product = torch.ops.onednn.qlinear_pointwise.default
        self._packed = torch.ops.onednn.qlinear_prepack(weight, None)
        self._scales = scales
        self._zeros = torch.zeros(len(scales), dtype=torch.int64)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """float32 [..., out]."""
        weight = (self._packed, self._scales, self._zeros)
        output = (1.0, 0, torch.float32)
        found: torch.Tensor = self._product(
            rows, 1.0, _SHIFT, *weight, None, *output, "none", [], ""
        )
        return found


class QuantizedLinear(torch.nn.Module):
    """About ``x @ weight.T + bias`` for x [..., in] and weight [out, in] kept as int8.

    The packed matrix can be neither copied, pickled nor moved.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self._bias = None if bias is None else bias.detach().to(torch.float32, copy=True)
        weight = weight.detach()
        scales = weight.abs().amax(dim=1).float().div_(_LARGEST).clamp_(min=_SMALLEST)
        whole = (weight / scales[:, None]).round_().to(torch.int8)
        self._product = _IntegerProduct(whole, scales)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out] in the dtype of ``x``; a row that is not finite stays so."""
        values = x.float()
        scale = values.abs().amax(dim=-1, keepdim=True).div_(_LARGEST).clamp_(min=_SMALLEST)
        # Conversion cuts off the fraction, so the added half rounds to the nearest.
        shifted = (values * scale.reciprocal()).add_(_SHIFT + 0.5).to(torch.uint8)
        product = self._product(shifted).mul_(scale)
        if self._bias is not None:
            product.add_(self._bias)
        return product.to(x.dtype)


def quantize_linears(module: torch.nn.Module) -> str:
    """Replace every linear layer of ``module`` by a QuantizedLinear; what they are then.

    One after the other, so that the model is never held twice. Raises UnusableDevice when this
    machine has no exact product of bytes.
    """
    places = list(linear_places(module))
    device = next(module.parameters()).device.type
    fault = f"not for {device} devices" if device != "cpu" else _fault()
    if fault:
        raise UnusableDevice(f"--quantize int8 is not possible here: {fault}")
    while places:
        # Taken out of the list, so that the plain matrix is freed before the next is quantized.
        place = places.pop()
        place.put(QuantizedLinear(place.linear.weight, place.linear.bias))
    return "int8"


def _fault() -> str:
    """The reason why bytes cannot be multiplied here; empty when they can.

    Processors without VNNI may add pairs of products in 16 bits, which overflows for the largest
    values; the first row and the first two channels hold those.
    """
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-_LARGEST, _LARGEST + 1, _TEST_SHAPE, generator=generator)
    weight[0], weight[1] = _LARGEST, -_LARGEST
    rows = torch.randint(1, 256, (max(_TEST_ROWS), _TEST_SHAPE[1]), generator=generator)
    rows[0] = 255
    expected = (rows - _SHIFT) @ weight.T
    try:
        product = _IntegerProduct(weight.to(torch.int8), torch.ones(len(weight)))
        found = [product(rows[:count].to(torch.uint8)) for count in _TEST_ROWS]
    except OPERATOR_ERRORS as error:
        return f"not available: {error!r:.200}"
    if all(torch.equal(f.long(), expected[: len(f)]) for f in found):
        return ""
    return "the product of bytes is not exact"
