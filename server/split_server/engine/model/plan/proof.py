"""Whether a plan computes what the modules compute: layer by layer, on random rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from split_server.engine.model.packed import LEAST_ROWS, PackedBatch, Slice
from split_server.engine.model.plan.plan import DecodePlan
from split_server.kv.cache import KVCache

# Sessions and the rows of each of their steps, so that both kinds of attention are asked for.
_SESSIONS, _ROWS = 16, (8, 1)
_POSITIONS = 512
# Norm of the difference to that of the row, in the mean: sums in another order, and roundings to
# the dtype, of which a layer has about a dozen.
_BOUNDS = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2.5e-3}
# Inputs of quantised products have steps of 1 / 32,512 of the largest, whatever the dtype.
_STEPS_BOUND = 1e-4
# Where attention is sharp, the roundings of a score decide between two positions.
_WORST_ROW = 10


def plan_fault(module: Any, plan: DecodePlan, dtype: torch.dtype) -> str:
    """The reason why ``plan`` is not what ``module`` computes; empty when it is."""
    device = next(module.parameters()).device
    # Which a processor computes no faster than float32, and is not asked to.
    if dtype not in _BOUNDS or (dtype is torch.float16 and device.type == "cpu"):
        return f"not for {dtype}"
    bound = max(_BOUNDS[dtype], _STEPS_BOUND) if plan.wide else _BOUNDS[dtype]
    comparison = _Comparison(module, plan, bound)
    generator = torch.Generator().manual_seed(0)
    width = int(module.config.hidden_size)
    theirs, ours = ([KVCache() for _ in range(_SESSIONS)] for _ in range(2))
    for step in _ROWS:
        rows = torch.randn(_SESSIONS, step, width, generator=generator).to(device, dtype)
        places = torch.randint(0, _POSITIONS, (1, _SESSIONS * step), generator=generator)
        places = places.to(device)
        comparison.step(_Witness(rows, theirs), _Witness(rows, ours), places)
        if comparison.fault:
            return comparison.fault
    return ""


def least_rows(plan: DecodePlan, width: int, dtype: torch.dtype) -> int:
    """Rows that a pass has to have, so that those of a session do not depend on others."""
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(_SESSIONS, 1, width, generator=generator).to(dtype)
    together = _alone(plan, rows)
    same = all(
        torch.equal(_alone(plan, rows[:count]), together[:, :count])
        for count in range(1, LEAST_ROWS)
    )
    return 1 if same else LEAST_ROWS


def _alone(plan: DecodePlan, rows: torch.Tensor) -> torch.Tensor:
    batch = _Witness(rows, [KVCache() for _ in rows])
    return plan.hidden(batch.packed, torch.zeros(1, len(rows), dtype=torch.int64), batch)


class _Witness(PackedBatch):
    """``rows`` [sessions, n, H] behind what ``caches`` hold; remembers what it is asked."""

    def __init__(self, rows: torch.Tensor, caches: list[KVCache]) -> None:
        super().__init__([Slice(c, c.length, own) for c, own in zip(caches, rows, strict=True)], 1)
        self.packed = rows.reshape(1, -1, rows.shape[2])
        self.asked: list[tuple[Any, ...]] = []

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """As :meth:`Attends.attend`."""
        self.asked.append((layer, query.shape, keys.shape, query.dtype, scaling, window, softcap))
        return super().attend(layer, query, keys, values, scaling, window, softcap)


class _Comparison:
    """Runs the modules, and each layer of the plan on what that layer of theirs was given."""

    def __init__(self, module: Any, plan: DecodePlan, bound: float) -> None:
        self._module, self._plan, self._bound = module, plan, bound
        self.fault = ""

    def step(self, theirs: _Witness, ours: _Witness, positions: torch.Tensor) -> None:
        """One pass over the same rows, with caches of each side's own."""
        turns = self._plan.turns(ours.packed, positions)
        last = self._plan.stream(ours.packed).rows

        def compare(index: int, given: torch.Tensor, returned: torch.Tensor) -> None:
            nonlocal last
            if index == 0:
                self._compare("the rows before the first layer", last, given)
            stream = self._plan.stream_of(given)
            self._plan.layers[index](stream, turns[index], ours)
            self._compare(f"layer {index}", stream.rows, returned)
            last = returned

        with _watched(self._module.layers, compare):
            passed = self._module(
                inputs_embeds=theirs.packed, position_ids=positions, use_cache=False, packed=theirs
            )
        found = self._plan.final(self._plan.stream_of(last))
        self._compare("the last norm", found, passed.last_hidden_state)
        if theirs.asked != ours.asked and not self.fault:
            self.fault = "attention is asked for in another way"

    def _compare(self, what: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
        difference = torch.linalg.vector_norm(found.float() - wanted.float(), dim=-1)
        apart = difference / torch.linalg.vector_norm(wanted.float(), dim=-1)
        mean, most = float(apart.mean()), float(apart.max())
        # A NaN compares false, so it counts as a fault.
        if not (mean <= self._bound and most <= _WORST_ROW * self._bound) and not self.fault:
            self.fault = f"{what} differs by {mean:.1e} of its size, at most {most:.1e}"


@contextmanager
def _watched(layers: Any, seen: Any) -> Iterator[None]:
    """Call ``seen`` with index, input and output of every layer that is run."""

    def hook(index: int) -> Any:
        def told(_: Any, given: Any, named: Any, returned: Any) -> None:
            rows = given[0] if given else named["hidden_states"]
            seen(index, rows, returned[0] if isinstance(returned, tuple) else returned)

        return told

    hooks = [
        layer.register_forward_hook(hook(index), with_kwargs=True)
        for index, layer in enumerate(layers)
    ]
    try:
        yield
    finally:
        for each in hooks:
            each.remove()
