"""How many layers of a model have to be read from disk in each pass, and what the others take."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from split_server.checkpoint.families import EMBEDDING, HEAD, HEAD_BIAS
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.engine.streamed.slots import SLOTS
from split_server.engine.streamed.spread import spread
from split_server.errors import ModelTooLarge
from split_server.memory.planner import MemoryPlanner
from split_server.memory.weights import (
    ITEM_BYTES,
    WeightsNeed,
    beside,
    check_weights,
    kept_bytes,
    weights_need,
)

_LAYER = re.compile(r"model\.layers\.(\d+)\.")
# Beside the tensors of a layer: gaps between them and up to a whole page.
_GAPS = 8192
# And rows and columns that fill up blocks of the kernel.
_PACKED_GAPS = 1 << 20
# A pass costs the same whoever takes part, so there should be room for some; at least for one.
_SESSIONS, _POSITIONS = (4, 1), 2048


@dataclass(frozen=True, slots=True)
class Streaming:
    """``numbers`` of the layers that are read in each pass, ``pass_bytes`` together, of a model of
    so many ``layers``; ``need`` of the memory for the others and for slots.
    """

    numbers: tuple[int, ...]
    layers: int
    pass_bytes: int
    need: WeightsNeed

    @property
    def resident(self) -> int:
        """Layers that stay in memory."""
        return self.layers - len(self.numbers)


def streaming(
    checkpoint: Checkpoint, item_bytes: int, count: int, quantize: str = "none"
) -> Streaming:
    """With ``count`` layers on disk, all where it has fewer, in values of ``item_bytes``;
    ``quantize``: their matrices are none or int8.
    """
    sizes = _layer_sizes(checkpoint, item_bytes, quantize)
    numbers = tuple(spread(len(sizes), min(count, len(sizes))))
    away = sum(sizes[number] for number in numbers)
    whole = weights_need(checkpoint, item_bytes, quantize)
    packed = quantize == "int8"
    # Packed matrices are read beside their slots.
    gaps = _PACKED_GAPS if packed else _GAPS
    slots = (SLOTS + packed) * max(sizes[number] + gaps for number in numbers)
    # What is read is converted a tensor at a time, and written a layer at a time.
    largest = max(
        tensor.size + tensor.size // ITEM_BYTES[tensor.dtype] * item_bytes
        for name, tensor in checkpoint.tensors.items()
        if name not in (EMBEDDING, HEAD, HEAD_BIAS)
    )
    kept = whole.kept - away + slots
    # Layers that stay are loaded plain, and quantized group by group.
    plain = _layer_sizes(checkpoint, item_bytes)
    stays = sum(plain) - sum(sizes) - sum(plain[number] - sizes[number] for number in numbers)
    peak = kept + max(stays, 0) + largest + beside(checkpoint, item_bytes)
    return Streaming(numbers, len(sizes), away, WeightsNeed(kept, peak, 0))


def fewest_streamed(
    checkpoint: Checkpoint, item_bytes: int, planner: MemoryPlanner, quantize: str = "none"
) -> Streaming:
    """The fewest layers on disk with which the model and some sessions fit into memory.

    Raises ModelTooLarge when it does not with all of them there.
    """
    total = len(_layer_sizes(checkpoint, item_bytes))
    counts = range(1, total + 1)
    found = [streaming(checkpoint, item_bytes, count, quantize) for count in counts]
    for sessions in _SESSIONS:
        for one in found:
            if _fits(one, planner, sessions):
                return one
    check_weights(checkpoint.name, found[-1].need, planner)
    room = planner.room()
    needed = found[-1].need.kept + beside_weights(planner, _SESSIONS[-1])
    raise ModelTooLarge(checkpoint.name, needed, room.free, room.source)


def described_streaming(found: Streaming, bytes_per_second: float) -> Iterator[str]:
    """Lines for ``split-server plan``; ``bytes_per_second``: of the disk, 0 where not known."""
    yield f"layers in memory         {found.resident:>9,} of {found.layers:,}"
    yield f"read from disk each pass {found.pass_bytes / (1 << 20):>9,.0f} MiB"
    if bytes_per_second:
        yield f"disk reads, measured     {bytes_per_second / (1 << 20):>9,.0f} MiB/s"
        passes = bytes_per_second / found.pass_bytes
        yield f"tokens/s of one session  {passes:>9,.2f} at most"


def _fits(found: Streaming, planner: MemoryPlanner, sessions: int) -> bool:
    rooms = planner.rooms()
    after = found.need.kept + beside_weights(planner, sessions)
    return all(max(found.need.loading(room), after) <= room.free for room in rooms)


def all_streamed(checkpoint: Checkpoint, item_bytes: int, quantize: str = "none") -> Streaming:
    """With every layer on disk, which takes the least memory."""
    return streaming(checkpoint, item_bytes, len(_layer_sizes(checkpoint, item_bytes)), quantize)


def beside_weights(planner: MemoryPlanner, sessions: int) -> int:
    """Bytes that so many sessions need, and what stays free."""
    caches = sessions * planner.plan.cache_bytes(_usual_positions(planner))
    return planner.reserve + usual_workspace(planner) + caches


def usual_workspace(planner: MemoryPlanner) -> int:
    """Bytes of the largest pass over sessions of usual length."""
    return planner.plan.largest_workspace(_usual_positions(planner))


def _usual_positions(planner: MemoryPlanner) -> int:
    return min(_POSITIONS, planner.plan.shape.max_context)


def _layer_sizes(checkpoint: Checkpoint, item_bytes: int, quantize: str = "none") -> list[int]:
    layers: defaultdict[int, dict[str, TensorSlice]] = defaultdict(dict)
    for name, tensor in checkpoint.tensors.items():
        if found := _LAYER.match(name):
            layers[int(found[1])][name] = tensor
    return [kept_bytes(layers[number], item_bytes, quantize) for number in sorted(layers)]
