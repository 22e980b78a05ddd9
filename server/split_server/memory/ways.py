"""What ``--quantize auto`` says: which way to keep the matrices this machine would gain by.

It never decides: what a way costs a model's replies is not known here, and must be measured for it.
"""

from __future__ import annotations

from split_server.checkpoint.folder import Checkpoint
from split_server.engine.model.loader import Backbone
from split_server.engine.model.race import Laps
from split_server.memory.weights import weights_need

_WAYS = ("none", "int8", "int4")
# A way is worth its loss where a single session gains so much, and many sessions lose no more.
_GAINS, _LOSES = 0.9, 1.1
# Below so much room beside the weights, in parts of them, memory decides.
_ROOM = 0.5
_PAGE = "docs/engine.md, 'Linear layers'"


def recommendation(checkpoint: Checkpoint, backbone: Backbone, free: int) -> str:
    """In words, with the figures that it goes by; ``free``: bytes beside the loaded weights."""
    item = backbone.dtype.itemsize
    sizes = {way: weights_need(checkpoint, item, way).kept for way in _WAYS}
    laps = backbone.matrices.laps
    found = f"--quantize auto serves the model as it is; {_sizes(sizes)}"
    if laps is None or len(laps.ways) < len(_WAYS[:2]):
        return f"{found}. Nothing else is possible here, so nothing is recommended"
    way, why = _choice(laps, sizes, free)
    return (
        f"{found}; {_laps(laps)}. Recommended: --quantize {way}, because {why}. What a way costs "
        f"the replies of this model is not known here; measure it ({_PAGE})"
    )


def sizes_of_ways(checkpoint: Checkpoint, item_bytes: int) -> list[str]:
    """A line for ``split-server plan``: bytes of the weights by how they can be kept."""
    sizes = {way: weights_need(checkpoint, item_bytes, way).kept for way in _WAYS}
    return [f"--quantize auto keeps them as they are; {_sizes(sizes)}"]


def _choice(laps: Laps, sizes: dict[str, int], free: int) -> tuple[str, str]:
    """The way and the reason for it; the milder one where both serve."""
    ways = [way for way in _WAYS[1:] if way in laps.ways]
    if free < _ROOM * sizes["none"]:
        for way in ways:
            saved = sizes["none"] - sizes[way]
            if free + saved >= _ROOM * sizes[way] or way == ways[-1]:
                return way, f"memory is short: {saved / 1e6:.0f} MB more for sessions"
    plain = laps.ways["none"]
    for way in ways:
        alone, together = (a / b for a, b in zip(laps.ways[way], plain, strict=True))
        if alone <= _GAINS and together <= _LOSES:
            return way, f"one session takes {alone:.2f}x and {laps.sessions[-1]} {together:.2f}x"
    return "none", "there is room, and no way is faster for one session and no slower for many"


def _sizes(sizes: dict[str, int]) -> str:
    return "weights take " + ", ".join(
        f"{size / 1e6:.0f} MB" + ("" if way == "none" else f" as {way}")
        for way, size in sizes.items()
    )


def _laps(laps: Laps) -> str:
    return "products of some layers " + ", ".join(
        f"with {count} session{'s' if count > 1 else ''} "
        + " / ".join(f"{times[index]:.1f}" for times in laps.ways.values())
        + f" ms ({' / '.join(laps.ways)})"
        for index, count in enumerate(laps.sessions)
    )
