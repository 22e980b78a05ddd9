"""What goes when a text is forgotten: all of its runs but what other ones stand on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import torch

from split_server.kv.quantise import Coded, parts_of
from split_server.kv.run import Run, new_coded_slab, new_slab


@dataclass(frozen=True, slots=True)
class Cut:
    """``gone``: runs that nothing stands on, those that follow others first; ``shorter``: runs of
    which only the positions up to the given one are needed.
    """

    gone: dict[Run, None] = field(default_factory=dict)
    shorter: dict[Run, int] = field(default_factory=dict)


def planned(owner: str, found: Iterable[tuple[Run, int]], runs: Collection[Run], slack: int) -> Cut:
    """What goes of the text whose blocks lie in runs up to the positions that were ``found``.

    Only runs of ``owner`` go, and none of ``runs``, which are all, loses what another one needs.
    ``slack``: as many positions behind the last one that was found count as the text's own.
    """
    children = _children(runs)
    reached = _reached(found)
    for run, end in list(reached.items()):
        own = (child for child in children.get(run, ()) if child not in children)
        short = [child for child in own if end <= child.start and child.end <= end + slack]
        reached |= {child: child.end for child in short if child not in reached}
    cut = Cut()
    # A run begins before those that follow it.
    for run in sorted(reached, key=lambda run: -run.start):
        if run.owner == owner:
            _decide(run, reached[run] + slack, children.get(run, []), cut)
    return cut


def shortened(run: Run, end: int) -> Run:
    """A copy of the positions of ``run`` up to ``end``.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    run.wait()
    count = end - run.start
    shapes = [(*layer.shape[:2], count, layer.shape[3]) for layer in run.layers]
    scales: list[torch.Tensor] = []
    with torch.no_grad():
        if run.scales:
            layers, scales = new_coded_slab(shapes, run.start)
        else:
            layers = new_slab(shapes, run.layers[0].dtype)
        for copy, layer in zip(layers, run.layers, strict=True):
            copy.copy_(layer[:, :, :count])
        for index, short in enumerate(scales):
            _shorten_scales(parts_of(layers[index], short), run, index)
    size = len(run.digests) // (run.end - run.start)
    names = {position: name for position, name in run.names.items() if position <= end}
    digests = run.digests[: size * count]
    left = replace(
        run, end=end, digests=digests, names=names, layers=layers, scales=scales, copied=None
    )
    left.children = left.readers = 0
    return left


def _shorten_scales(short: Coded, run: Run, index: int) -> None:
    """Those of a block that is cut stay as they are: its codes do."""
    whole = parts_of(run.layers[index], run.scales[index])
    short.key_scales.copy_(whole.key_scales[:, : short.key_scales.shape[1]])
    short.value_scales.copy_(whole.value_scales[:, : short.value_scales.shape[1]])


def with_all_behind(runs: Iterable[Run], among: Collection[Run]) -> list[Run]:
    """``runs`` and all those ``among`` which follow one of them, those that follow others first."""
    children = _children(among)
    found: dict[Run, None] = {}
    waiting = list(runs)
    while waiting:
        run = waiting.pop()
        if run not in found:
            found[run] = None
            waiting += children.get(run, [])
    return sorted(found, key=lambda run: -run.start)


def _decide(run: Run, reached: int, children: Iterable[Run], cut: Cut) -> None:
    stays = [child for child in children if child not in cut.gone]
    needed = max((child.start for child in stays), default=run.start)
    # The rest of the run is another text's.
    if run.end > reached:
        needed = run.end
    if needed <= run.start:
        cut.gone[run] = None
    elif needed < run.end:
        cut.shorter[run] = needed


def _children(runs: Iterable[Run]) -> dict[Run, list[Run]]:
    found: dict[Run, list[Run]] = {}
    for run in runs:
        if run.parent is not None:
            found.setdefault(run.parent, []).append(run)
    return found


def _reached(found: Iterable[tuple[Run, int]]) -> dict[Run, int]:
    """How far the text goes in each run that has a part of it."""
    reached: dict[Run, int] = {}
    for run, end in found:
        reached[run] = max(end, reached.get(run, 0))
    for run in list(reached):
        at = run
        while at.parent is not None:
            seen = reached.get(at.parent, 0) >= at.start
            reached[at.parent] = max(at.start, reached.get(at.parent, 0))
            at = at.parent
            if seen:
                break
    return reached
