"""The simplest int8 layer, as a peer: one byte and one scale for a row, of inputs and of weights.

Vector-wise quantization: Dettmers et al. 2022, LLM.int8(), https://arxiv.org/abs/2208.07339,
section 2.1.
"""

from __future__ import annotations

import torch

from split_server.engine.linears.integers.choice import integer_product
from split_server.engine.linears.integers.product import LARGEST
from split_server.engine.linears.prepacked import linear_places

_SMALLEST = torch.finfo(torch.float32).tiny


class OneByteLinear(torch.nn.Module):
    """About ``x @ weight.T + bias``, every matrix by itself."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self._bias = None if linear.bias is None else linear.bias.detach().float()
        weight = linear.weight.detach()
        scales = weight.abs().amax(dim=1).float().div_(LARGEST).clamp_(min=_SMALLEST)
        whole = (weight / scales[:, None]).round_().to(torch.int8)
        self._product = integer_product(whole, scales)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out]."""
        values = x.float()
        scale = values.abs().amax(dim=-1, keepdim=True).div_(LARGEST).clamp_(min=_SMALLEST)
        product = self._product((values * scale.reciprocal()).round_()).mul_(scale)
        if self._bias is not None:
            product.add_(self._bias)
        return product.to(x.dtype)


def one_byte_linears(module: torch.nn.Module) -> None:
    """Replace every linear layer of ``module``."""
    places = list(linear_places(module))
    while places:
        place = places.pop()
        place.put(OneByteLinear(place.linear))
