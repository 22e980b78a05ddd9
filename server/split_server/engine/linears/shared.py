"""One product for several linear layers that read the same input."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import torch

from split_server.kv.buffers import new_buffer

# [..., in] to [..., out].
Product: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


class SharedProduct(ABC):
    """Products of some matrices [out, in] with one input, computed when the first one is asked for.

    What was computed is dropped when every matrix has had its part. One thread at a time; an input
    is not changed in place between two readers.
    """

    def __init__(self, sizes: Sequence[int], in_features: int) -> None:
        """``sizes``: the rows of each matrix."""
        self.in_features = in_features
        self._spans = tuple(_spans(sizes))
        self._input: weakref.ref[torch.Tensor] | None = None
        self._found: torch.Tensor | None = None
        self._waiting: set[int] = set()

    @property
    def count(self) -> int:
        """The number of matrices."""
        return len(self._spans)

    @property
    def factors(self) -> torch.Tensor | None:
        """What inputs are multiplied by before anything else, float32 [in]; None for nothing."""
        return None

    @abstractmethod
    def multiply(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out of all matrices one after the other], in the dtype of ``x``."""

    def multiply_wide(self, x: torch.Tensor) -> torch.Tensor:
        """As :meth:`multiply`, in the dtype in which it is computed."""
        return self.multiply(x)

    def multiply_factored(self, x: torch.Tensor) -> torch.Tensor:
        """:meth:`multiply_wide` of inputs that were multiplied by :attr:`factors`; ``x`` is used
        up.
        """
        return self.multiply_wide(x)

    def part(self, index: int, x: torch.Tensor) -> torch.Tensor:
        """The product [..., out] of matrix ``index`` with x [..., in], in the dtype of ``x``."""
        found = self._found if self._is_for(index, x) else None
        if found is None:
            found = self._found = self.multiply(x)
            self._input, self._waiting = weakref.ref(x), set(range(len(self._spans)))
        self._waiting.discard(index)
        if not self._waiting:
            self._found = self._input = None
        return found[..., self._spans[index]]

    def _is_for(self, index: int, x: torch.Tensor) -> bool:
        return index in self._waiting and self._input is not None and self._input() is x


class SharedPart(torch.nn.Module):
    """About ``x @ weight.T + bias``, for matrix ``index`` of a ``SharedProduct``."""

    def __init__(self, product: SharedProduct, index: int, out_features: int) -> None:
        super().__init__()
        self.out_features, self.in_features = out_features, product.in_features
        self._product, self._index = product, index

    @property
    def product(self) -> SharedProduct:
        """That of all matrices."""
        return self._product

    @property
    def index(self) -> int:
        """The place of its matrix among them."""
        return self._index

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out] in the dtype of ``x``."""
        return self._product.part(self._index, x)


def one_product(layers: Sequence[torch.nn.Module]) -> Product:
    """[..., in] to [..., out of all ``layers`` one after the other], in the dtype in which it is
    computed.

    That of the product which they share; plain layers are merged for it. Others are multiplied one
    by one.
    """
    shared = _shared_by(layers)
    if shared is not None:
        return shared.multiply_wide
    if len(layers) == 1:
        return layers[0].forward
    plain = [layer for layer in layers if type(layer) is torch.nn.Linear]
    if len(plain) == len(layers):
        return merged(plain).forward
    forwards = [layer.forward for layer in layers]
    return lambda x: torch.cat([forward(x) for forward in forwards], dim=-1)


def factored_product(
    layers: Sequence[torch.nn.Module],
) -> tuple[Product, torch.Tensor | None]:
    """:func:`one_product` of inputs that were multiplied by the factors [in], where there are any;
    then the inputs are used up.
    """
    shared = _shared_by(layers)
    if shared is None or shared.factors is None:
        return one_product(layers), None
    return shared.multiply_factored, shared.factors


def _shared_by(layers: Sequence[torch.nn.Module]) -> SharedProduct | None:
    """The product of exactly these layers, in this order."""
    parts = [layer for layer in layers if isinstance(layer, SharedPart)]
    if len(parts) != len(layers):
        return None
    product = parts[0].product
    own = [part.index for part in parts if part.product is product]
    return product if own == [*range(product.count)] and len(own) == len(parts) else None


def merged(linears: Sequence[torch.nn.Linear]) -> torch.nn.Linear:
    """One layer for all of them, whose matrices and biases are views of its own from now on."""
    parts = [linear.weight.detach() for linear in linears]
    shape = (sum(map(len, parts)), parts[0].shape[1])
    # A heap of malloc's would keep what is freed once the matrix is packed.
    weight = new_buffer(shape, parts[0].dtype, parts[0].device)
    torch.cat(parts, out=weight)
    bias = stacked_bias(linears)
    whole = torch.nn.Linear(weight.shape[1], len(weight), bias=False, device="meta")
    whole.weight = torch.nn.Parameter(weight, requires_grad=False)
    if bias is not None:
        whole.bias = torch.nn.Parameter(bias, requires_grad=False)
    for linear, span in zip(linears, _spans([len(each.weight) for each in linears]), strict=True):
        linear.weight.data = weight[span]
        if linear.bias is not None and bias is not None:
            linear.bias.data = bias[span]
    return whole


def stacked_bias(
    linears: Sequence[torch.nn.Linear], dtype: torch.dtype | None = None
) -> torch.Tensor | None:
    """Biases one after the other, zeros where a layer has none; None where none has one.

    ``dtype``: None keeps that of the matrices.
    """
    if all(linear.bias is None for linear in linears):
        return None
    parts = [
        linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias
        for linear in linears
    ]
    return torch.cat([part.detach().to(dtype or part.dtype) for part in parts])


def _spans(sizes: Sequence[int]) -> Iterator[slice]:
    end = 0
    for size in sizes:
        begin, end = end, end + size
        yield slice(begin, end)
