"""How int8 matrices of a layer stand in a layer file.

Those with the same input are one matrix, as in memory (``linears.stacked``), of which the file has
the bytes as the kernel reads them: packing takes longer than reading. So a file is for one kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import torch

from split_server.checkpoint.layers.layout import StoredLayer, StoredTensor
from split_server.engine.linears.integers.onednn import pack
from split_server.engine.linears.integers.raw import form, raw
from split_server.engine.linears.siblings import in_order, leader
from split_server.engine.linears.stacked import whole_numbers

# Behind the place of a group and the name of its first layer.
PACKED, SCALES, COLUMNS, BIAS = ".packed", ".scales", ".columns", ".biases"
_WEIGHT, _BIAS = ".weight", ".bias"
Shapes = Mapping[str, Sequence[int]]
# A tensor by its name within the layer, in the compute dtype.
Read = Callable[[str], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Group:
    """Linear ``layers`` with the same input, by their names within the decoder layer; ``sizes``:
    rows of each.
    """

    name: str
    layers: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: int
    biased: bool


def group_name(parent: str, layer: str) -> str:
    """What tensors of the group are called that ``layer``, which is in ``parent``, belongs to."""
    return f"{parent}.{leader(layer)}" if parent else leader(layer)


def groups(shapes: Shapes) -> list[Group]:
    """Of all matrices among the tensors of a layer, which have these ``shapes``."""
    found: dict[str, list[str]] = {}
    for name, shape in shapes.items():
        # Norms of one family have a weight for each head and column.
        if name.endswith(_WEIGHT) and len(shape) == 2 and not name.endswith("norm.weight"):
            parent, _, layer = name.removesuffix(_WEIGHT).rpartition(".")
            found.setdefault(group_name(parent, layer), []).append(layer)
    return [_group(shapes, name, layers) for name, layers in found.items()]


def stored_tensors(shapes: Shapes, dtype: str) -> list[StoredTensor]:
    """What the file has of a layer; what is no matrix stays as it is, in ``dtype``."""
    tensors, matrices = [], set()
    for one in groups(shapes):
        rows = sum(one.sizes)
        tensors += [
            StoredTensor(one.name + PACKED, "raw", (form(rows, one.columns).size,)),
            StoredTensor(one.name + SCALES, "f32", (rows,)),
            StoredTensor(one.name + COLUMNS, "f32", (one.columns,)),
        ]
        if one.biased:
            tensors.append(StoredTensor(one.name + BIAS, "f32", (rows,)))
        matrices |= {layer + end for layer in one.layers for end in (_WEIGHT, _BIAS)}
    others = [(name, shape) for name, shape in shapes.items() if name not in matrices]
    return tensors + [StoredTensor(name, dtype, tuple(shape)) for name, shape in others]


def kernel_name(layers: Sequence[Shapes]) -> str:
    """Changes with the kernel's order of any of their matrices."""
    shapes = {(sum(one.sizes), one.columns) for shapes in layers for one in groups(shapes)}
    layouts = b"".join(form(*shape).layout for shape in sorted(shapes))
    return f"{torch.__version__} {blake2b(layouts, digest_size=16).hexdigest()}"


def values(shapes: Shapes, read: Read) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of :func:`stored_tensors` by their names, one group in memory at a time; packed
    ones are opaque.
    """
    matrices = set()
    for one in groups(shapes):
        found = whole_numbers([read(layer + _WEIGHT) for layer in one.layers])
        yield one.name + COLUMNS, found.columns
        yield one.name + SCALES, found.scales
        yield one.name + PACKED, pack(found.matrix)
        if one.biased:
            yield one.name + BIAS, _biases(one, shapes, read)
        matrices |= {layer + end for layer in one.layers for end in (_WEIGHT, _BIAS)}
    for name in shapes:
        if name not in matrices:
            yield name, read(name)


def write_values(layer: StoredLayer, shapes: Shapes, read: Read, buffer: memoryview) -> None:
    """Put them into ``buffer`` where ``layer`` has them."""
    places = {tensor.name: tensor for tensor in layer.tensors}
    for name, found in values(shapes, read):
        place = places[name]
        part = buffer[place.offset : place.offset + place.size]
        if place.dtype == "raw":
            part[:] = ctypes.string_at(*raw(found))
        else:
            torch.frombuffer(part, dtype=found.dtype).copy_(found.flatten())


def _group(shapes: Shapes, name: str, layers: Sequence[str]) -> Group:
    parent = name.rpartition(".")[0]
    paths = tuple(f"{parent}.{layer}" if parent else layer for layer in in_order(layers))
    weights = [shapes[path + _WEIGHT] for path in paths]
    return Group(
        name,
        paths,
        tuple(int(shape[0]) for shape in weights),
        int(weights[0][1]),
        any(path + _BIAS in shapes for path in paths),
    )


def _biases(group: Group, shapes: Shapes, read: Read) -> torch.Tensor:
    """float32 of all layers one after the other, zeros where one has none."""
    parts = [
        read(layer + _BIAS).float() if layer + _BIAS in shapes else torch.zeros(size)
        for layer, size in zip(group.layers, group.sizes, strict=True)
    ]
    return torch.cat(parts)
