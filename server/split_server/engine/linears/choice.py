"""The choice of linear layers to pack: a self-test and a short race against the plain ones.

Whether packing helps depends on the processor, the dtype and the shape, so it is measured.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch

from split_server.engine.giving_way import working_seconds
from split_server.engine.linears.prepacked import (
    PackedLinear,
    PackedPart,
    PackedProduct,
    Place,
    linear_places,
    packing_fault,
)
from split_server.engine.linears.shared import merged
from split_server.engine.linears.siblings import grouped
from split_server.engine.outcomes import outcome
from split_server.engine.teams import release_team
from split_server.errors import UnusableDevice

PLAIN = "plain"
_DTYPES = (torch.bfloat16, torch.float32)
# Matrices that are raced fill this many bytes if the model has them, plain and packed by turns:
# more than the last level of most caches, because a step finds its matrices in memory, not in a
# cache.
_COLD_BYTES = 96 << 20
_RACE_ROWS = (1, 16)
_ROUNDS = 3
_RACE_SECONDS = 0.25
# Packing that gains less is not worth depending on private operators.
_WORTH = 0.95
_log = logging.getLogger(__name__)

# Of all matrices of a group, one below the other.
Shape = tuple[int, int]
# Layers with the same input, which are one product where they are packed.
Group = list[Place]


def arrange_linears(
    module: torch.nn.Module, mode: str, threads: int = 1, *, merge: bool = False
) -> str:
    """Pack the linear layers of ``module`` in place where ``mode`` says so; what they are then.

    ``auto`` packs the shapes that win the race with ``threads`` threads, ``packed`` all of them;
    both only where every shape passes the self-test. With ``merge`` those with the same input
    become one matrix. One group after the other is packed, so that the model is never held twice.
    Raises UnusableDevice when ``packed`` is not possible.
    """
    places = linear_places(module)
    groups = grouped(places) if merge else [[place] for place in places]
    if mode == "plain" or not groups:
        return PLAIN
    fault = _fault(groups)
    if fault and mode == "packed":
        raise UnusableDevice(f"--linears packed is not possible here: {fault}")
    shapes = set() if fault else {_shape(group) for group in groups}
    if shapes and mode == "auto":
        # Nothing here holds the sample, whose plain matrices go while the others are packed.
        shapes = _raced(_sample(groups), threads)
    if not shapes:
        _log.info("linear layers stay plain; packing: %s", fault or "no gain measured")
        return PLAIN
    return _pack(groups, shapes)


def _fault(groups: list[Group]) -> str:
    """The reason why this model's linear layers cannot be packed; empty when they can."""
    weight = groups[0][0].linear.weight
    if weight.device.type != "cpu":
        return f"not for {weight.device.type} devices"
    if weight.dtype not in _DTYPES:
        return f"not for {weight.dtype}"
    firsts = {_shape(group): group for group in groups}
    return next(filter(None, (packing_fault(_whole(group)) for group in firsts.values())), "")


def _shape(group: Group) -> Shape:
    columns = group[0].linear.weight.shape[1]
    return sum(len(place.linear.weight) for place in group), columns


def _whole(group: Group) -> torch.nn.Linear:
    """One layer for those of the group."""
    linears = [place.linear for place in group]
    return linears[0] if len(linears) == 1 else merged(linears)


def _pack(groups: list[Group], shapes: set[Shape]) -> str:
    dtype = str(groups[0][0].linear.weight.dtype).removeprefix("torch.")
    total, packed = sum(map(len, groups)), 0
    while groups:
        # Taken out of the list, so that plain matrices are freed before the next are packed.
        group = groups.pop()
        if _shape(group) in shapes:
            _pack_group(group)
            packed += len(group)
    return f"packed {dtype}" + (f" ({packed} of {total})" if packed < total else "")


def _pack_group(group: Group) -> None:
    sizes = [len(place.linear.weight) for place in group]
    whole = _whole(group)
    layer = PackedLinear(whole.weight, whole.bias)
    if len(group) == 1:
        group[0].put(layer)
        return
    product = PackedProduct(layer, sizes)
    for index, (place, size) in enumerate(zip(group, sizes, strict=True)):
        place.put(PackedPart(product, index, size))


def _sample(groups: list[Group]) -> list[Group]:
    """The first layers of the model, enough to be cold, and at least one of each shape."""
    chosen: list[Group] = []
    seen: set[Shape] = set()
    size = 0
    for group in groups:
        if size < _COLD_BYTES or _shape(group) not in seen:
            chosen.append(group)
            seen.add(_shape(group))
            size += sum(place.linear.weight.nbytes for place in group)
    return chosen


def _raced(sample: list[Group], threads: int) -> set[Shape]:
    """As :func:`_race`, once for each model that comes again."""
    of = ("linears", sample[0][0].linear.weight.dtype, threads, *map(_shape, sample))
    return outcome(of, lambda: _race(sample, threads))


def _race(sample: list[Group], threads: int) -> set[Shape]:
    """The shapes that are faster packed, over few and some rows together."""
    plain, packed = [], []
    for group in sample:
        for place in group:
            # Reading a mapped file for the first time is slow, and slower than memory after that.
            place.linear.weight.data = place.linear.weight.data.clone()
            plain.append((_shape(group), place.linear))
        whole = _whole(group)
        packed.append((_shape(group), PackedLinear(whole.weight, whole.bias)))
    gain: dict[Shape, float] = defaultdict(float)
    with threads_set(threads), torch.inference_mode():
        for rows in _RACE_ROWS:
            dtype = sample[0][0].linear.weight.dtype
            inputs = {width: torch.ones(1, rows, width, dtype=dtype) for (_, width), _ in plain}
            deadline = working_seconds() + _RACE_SECONDS
            slow: dict[Shape, float] = {}
            fast: dict[Shape, float] = {}
            for done in range(_ROUNDS):
                if not done or working_seconds() < deadline:
                    _lap(plain, inputs, slow)
                    _lap(packed, inputs, fast)
            for shape, seconds in slow.items():
                gain[shape] += _WORTH * seconds - fast[shape]
    return {shape for shape, seconds in gain.items() if seconds > 0}


def _lap(
    layers: Sequence[tuple[Shape, torch.nn.Module]],
    inputs: Mapping[int, torch.Tensor],
    best: dict[Shape, float],
) -> None:
    """One product of every layer with the input of its width; least seconds per shape go to
    ``best``.
    """
    times: dict[Shape, float] = defaultdict(float)
    for shape, layer in layers:
        x = inputs[shape[1]]
        begin = working_seconds()
        layer(x)
        times[shape] += working_seconds() - begin
    for shape, seconds in times.items():
        best[shape] = min(best.get(shape, seconds), seconds)


@contextmanager
def threads_set(count: int) -> Iterator[None]:
    """Products of ``count`` threads meanwhile."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if before < count:
            release_team()
