"""Attention rows on request: what a step may ask for, how the answer travels, how large it is.

A row is the softmax of one head of one layer for the step's last position over all cached
positions. What is asked for is reduced where it is computed: to some layers, over heads, over all
that is left, to the largest weights, or to half precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_wire.errors import AttentionTooLarge, MalformedMessage
from split_wire.fields import Fields
from split_wire.tensor import ALIGNMENT, Tensor, item_size

CAPABILITY = "attention"
# A step may name layers, and have all rows reduced to one.
LAYERS_CAPABILITY = "attention_layers"
MAX_TOP_K = 4096
# What a device believes of a server's announcement; it bounds answers by these.
LARGEST_LAYERS = 1024
LARGEST_HEADS = 1024
LARGEST_ATTENTION_BYTES = 64 << 20

Heads: TypeAlias = Literal["all", "mean", "max"]
Reduce: TypeAlias = Literal["none", "mean", "max"]
RowsDtype: TypeAlias = Literal["f32", "f16"]


@dataclass(frozen=True, slots=True)
class AttentionRequest:
    """A request for the rows of attention that a step returns.

    ``heads``: every head, or their mean or maximum per layer and position. ``top_k``: that many of
    the largest weights of each row (after ``heads`` and ``reduce``), 0 for all positions; at most
    4,096. ``dtype`` rounds the weights: in ``f16`` those below 2^-25 become 0. ``layers``: which,
    from 0, rising; () for all. ``reduce``: the mean or the maximum over all rows that are left
    after that, which makes one of them.
    """

    heads: Heads = "all"
    top_k: int = 0
    dtype: RowsDtype = "f32"
    layers: tuple[int, ...] = ()
    reduce: Reduce = "none"

    @property
    def names_layers(self) -> bool:
        """Whether it needs a server that can do more than reduce each layer by itself."""
        return bool(self.layers) or self.reduce != "none"

    def layers_of(self, layers: int) -> int:
        """Layers of the answer of a model that has ``layers``.

        Raises MalformedMessage where it names one that the model does not have.
        """
        if self.layers and self.layers[-1] >= layers:
            raise MalformedMessage(
                f"the model has {layers} layers, and none of number "
                f"{self.layers[-1]}; they count from 0"
            )
        return 1 if self.reduce != "none" else len(self.layers) or layers

    def rows_of(self, heads: int) -> int:
        """Rows of one layer that has ``heads``."""
        return heads if self.heads == "all" and self.reduce == "none" else 1

    def width_of(self, positions: int) -> int:
        """Weights of one row over ``positions`` cached ones."""
        return min(self.top_k, positions) if self.top_k else positions


@dataclass(frozen=True, slots=True)
class AttentionRows:
    """The rows as they travel, layer by layer.

    ``heads``: rows of one layer. ``values`` [layers * heads, width] in f32 or f16; with a top-k
    ``positions`` i32 of the same shape, else None: width is then the number of cached positions.
    """

    layers: int
    heads: int
    values: Tensor
    positions: Tensor | None = None

    @classmethod
    def of(cls, values: NDArray[Any], positions: NDArray[np.int32] | None = None) -> AttentionRows:
        """From float32 or float16 ``values`` and ``positions`` [layers, heads, width].

        Contiguous arrays are not copied. Values must be finite.
        """
        layers, heads, width = values.shape
        dtype: RowsDtype = "f16" if values.dtype == np.float16 else "f32"
        stored = "<f2" if dtype == "f16" else "<f4"
        shape = (layers * heads, width)
        rows = Tensor(dtype, shape, _raw(values, stored))
        places = None if positions is None else Tensor("i32", shape, _raw(positions, "<i4"))
        return cls(layers, heads, rows, places)


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """The rows as a device uses them.

    ``values`` float32 [layers, heads, width], read-only; heads is 1 when they were reduced.
    ``positions`` int32 of the same shape names the position of each weight, largest weight first;
    None: width counts the cached positions and weight i is that of position i.
    """

    values: NDArray[np.float32]
    positions: NDArray[np.int32] | None = None


def weights_of(rows: AttentionRows) -> AttentionWeights:
    """``rows`` as a device uses them, unchecked; float32 values are not copied."""
    shape = (rows.layers, rows.heads, rows.values.shape[1])
    values = rows.values.array().reshape(shape).astype(np.float32, copy=False)
    values.flags.writeable = False
    positions = None if rows.positions is None else rows.positions.array().reshape(shape)
    if positions is not None:
        positions.flags.writeable = False
    return AttentionWeights(values, positions)


def _raw(values: NDArray[Any], stored: str) -> memoryview:
    return np.ascontiguousarray(values, stored).data.cast("B")


def request_field(value: object) -> AttentionRequest | None:
    """Read the field ``attention`` of a step. Raises MalformedMessage."""
    if value is None or value is False:
        return None
    if value is True:
        return AttentionRequest()
    if not isinstance(value, dict):
        raise MalformedMessage("'attention' must be true, false or a map")
    fields = Fields(value)
    return AttentionRequest(
        heads=_heads(fields.optional_text("heads")),
        top_k=fields.optional_count("top_k", MAX_TOP_K),
        dtype=_dtype(fields.optional_text("dtype")),
        layers=_layers(value.get("layers")),
        reduce=_reduce(fields.optional_text("reduce")),
    )


def request_value(request: AttentionRequest | None) -> bool | dict[str, Any]:
    """The field ``attention`` of a step that asks for ``request``; defaults are left out."""
    if request is None:
        return False
    specs = AttentionRequest.__dataclass_fields__.values()
    given = {spec.name: (getattr(request, spec.name), spec.default) for spec in specs}
    kept = {name: value for name, (value, default) in given.items() if value != default}
    if request.layers:
        kept["layers"] = list(request.layers)
    return kept or True


def rows_field(value: object, tensors: Mapping[str, Tensor]) -> AttentionRows | None:
    """Read the attention of a result: its header field and its tensors.

    Raises MalformedMessage. Whether they are what was asked for is left to the receiver.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise MalformedMessage("'attention' must be a map")
    fields = Fields(value)
    values, positions = tensors.get("attention"), tensors.get("attention_positions")
    if values is None:
        raise MalformedMessage("the tensor 'attention' is missing")
    if positions is not None and positions.dtype != "i32":
        raise MalformedMessage("the tensor 'attention_positions' is of i32")
    return AttentionRows(
        layers=fields.count("layers", LARGEST_LAYERS),
        heads=fields.count("heads", LARGEST_HEADS),
        values=values,
        positions=positions,
    )


def rows_value(rows: AttentionRows) -> dict[str, int]:
    """The field ``attention`` of a result."""
    return {"layers": rows.layers, "heads": rows.heads}


def rows_tensors(rows: AttentionRows) -> dict[str, Tensor]:
    """The tensors that carry ``rows``, by name."""
    if rows.positions is None:
        return {"attention": rows.values}
    return {"attention": rows.values, "attention_positions": rows.positions}


def attention_bytes(request: AttentionRequest, layers: int, heads: int, positions: int) -> int:
    """Bytes that the rows over ``positions`` cached ones add to a result, padding included.

    Raises AttentionTooLarge above 64 MiB, and as :meth:`AttentionRequest.layers_of`.
    """
    values = request.layers_of(layers) * request.rows_of(heads) * request.width_of(positions)
    size = values * (item_size(request.dtype) + (item_size("i32") if request.top_k else 0))
    size += 2 * ALIGNMENT
    if size > LARGEST_ATTENTION_BYTES:
        raise AttentionTooLarge(size, LARGEST_ATTENTION_BYTES)
    return size


def _heads(value: str | None) -> Heads:
    match value:
        case None:
            return "all"
        case "all" | "mean" | "max":
            return value
    raise MalformedMessage("'heads' must be 'all', 'mean' or 'max'")


def _layers(value: object) -> tuple[int, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not 1 <= len(value) <= LARGEST_LAYERS:
        raise MalformedMessage("'layers' of attention must be a list of numbers, at least one")
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        raise MalformedMessage("'layers' of attention must be whole numbers")
    if value[0] < 0 or not all(one < other for one, other in pairwise(value)):
        raise MalformedMessage("'layers' of attention must rise from 0 or more, each named once")
    return tuple(value)


def _reduce(value: str | None) -> Reduce:
    match value:
        case None:
            return "none"
        case "none" | "mean" | "max":
            return value
    raise MalformedMessage("'reduce' must be 'none', 'mean' or 'max'")


def _dtype(value: str | None) -> RowsDtype:
    match value:
        case None:
            return "f32"
        case "f32" | "f16":
            return value
    raise MalformedMessage("'dtype' of attention must be 'f32' or 'f16'")
