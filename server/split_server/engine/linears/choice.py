"""The choice of linear layers to pack: a self-test and a short race against the plain ones.

Whether packing helps depends on the processor, the dtype and the shape, so it is measured.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch

from split_server.engine.linears.prepacked import PackedLinear, Place, linear_places, packing_fault
from split_server.errors import UnusableDevice

PLAIN = "plain"
_DTYPES = (torch.bfloat16, torch.float32)
# Matrices raced against each other fill this many bytes if the model has them: more than the last
# level of most caches, because a step finds its matrices in memory, not in a cache.
_COLD_BYTES = 128 << 20
_RACE_ROWS = (1, 16)
_ROUNDS = 3
_RACE_SECONDS = 0.25
# Packing that gains less is not worth depending on private operators.
_WORTH = 0.95
_log = logging.getLogger(__name__)

Shape = tuple[int, int]


def arrange_linears(module: torch.nn.Module, mode: str, threads: int = 1) -> str:
    """Pack the linear layers of ``module`` in place where ``mode`` says so; what they are then.

    ``auto`` packs the shapes that win the race with ``threads`` threads, ``packed`` all of them;
    both only where every shape passes the self-test. Matrices are replaced one after the other,
    so that the model is never held twice. Raises UnusableDevice when ``packed`` is not possible.
    """
    places = list(linear_places(module))
    if mode == "plain" or not places:
        return PLAIN
    fault = _fault(places)
    if fault and mode == "packed":
        raise UnusableDevice(f"--linears packed is not possible here: {fault}")
    shapes = set() if fault else {_shape(place) for place in places}
    if shapes and mode == "auto":
        shapes = _race(_sample(places), threads)
    if not shapes:
        _log.info("linear layers stay plain; packing: %s", fault or "no gain measured")
        return PLAIN
    return _pack(places, shapes)


def _fault(places: list[Place]) -> str:
    """The reason why this model's linear layers cannot be packed; empty when they can."""
    weight = places[0].linear.weight
    if weight.device.type != "cpu":
        return f"not for {weight.device.type} devices"
    if weight.dtype not in _DTYPES:
        return f"not for {weight.dtype}"
    firsts = {_shape(place): place.linear for place in places}
    return next(filter(None, map(packing_fault, firsts.values())), "")


def _shape(place: Place) -> Shape:
    rows, columns = place.linear.weight.shape
    return rows, columns


def _pack(places: list[Place], shapes: set[Shape]) -> str:
    dtype = str(places[0].linear.weight.dtype).removeprefix("torch.")
    total, packed = len(places), 0
    while places:
        # Taken out of the list, so that the plain matrix is freed before the next is packed.
        place = places.pop()
        if _shape(place) in shapes:
            place.put(PackedLinear(place.linear.weight, place.linear.bias))
            packed += 1
    return f"packed {dtype}" + (f" ({packed} of {total})" if packed < total else "")


def _sample(places: list[Place]) -> list[Place]:
    """The first layers of the model, enough to be cold, and at least one of each shape."""
    chosen: list[Place] = []
    seen: set[Shape] = set()
    size = 0
    for place in places:
        if size < _COLD_BYTES or _shape(place) not in seen:
            chosen.append(place)
            seen.add(_shape(place))
            size += place.linear.weight.nbytes
    return chosen


def _race(sample: list[Place], threads: int) -> set[Shape]:
    """The shapes that are faster packed, over few and some rows together."""
    for place in sample:
        # Reading a mapped file for the first time is slow, and slower than memory after that.
        place.linear.weight.data = place.linear.weight.data.clone()
    plain = [(_shape(place), place.linear) for place in sample]
    packed = [(shape, PackedLinear(linear.weight, linear.bias)) for shape, linear in plain]
    gain: dict[Shape, float] = defaultdict(float)
    with threads_set(threads), torch.inference_mode():
        for rows in _RACE_ROWS:
            inputs = {
                width: torch.ones(1, rows, width, dtype=sample[0].linear.weight.dtype)
                for (_, width), _ in plain
            }
            deadline = time.perf_counter() + _RACE_SECONDS
            slow: dict[Shape, float] = {}
            fast: dict[Shape, float] = {}
            for done in range(_ROUNDS):
                if not done or time.perf_counter() < deadline:
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
        begin = time.perf_counter()
        layer(x)
        times[shape] += time.perf_counter() - begin
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
