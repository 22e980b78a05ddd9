"""The choice between a plan and the modules: a proof that both are the same, and a short race."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from split_server.engine.giving_way import working_seconds
from split_server.engine.linears.choice import threads_set
from split_server.engine.linears.quantize import QuantizedLinear
from split_server.engine.model.packed import LEAST_ROWS, PackedBatch, Slice
from split_server.engine.model.plan.plan import DecodePlan
from split_server.engine.model.plan.proof import least_rows, plan_fault
from split_server.engine.model.plan.reading import FAMILIES
from split_server.engine.outcomes import outcome
from split_server.kv.cache import KVCache

_log = logging.getLogger(__name__)
MODULES, PLAN = "modules", "plan"
_DEVICES = frozenset({"cpu", "cuda"})
_RACE_ROWS = (1, 16)
_LEAST_LAPS, _MOST_LAPS = 2, 12
_RACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Layers:
    """``kind``: what computes them; ``least_rows``: of a pass (:func:`least_rows`)."""

    kind: str
    least_rows: int


@torch.inference_mode()
def arrange_layers(module: Any, dtype: torch.dtype, mode: str, threads: int = 1) -> Layers:
    """Have ``module`` compute by a plan where ``mode`` says so and it is the same.

    ``auto``: where it wins the race with ``threads`` threads, too, which is run on a processor
    alone; ``packed``: without a race; ``plain``: never. Parameters stay where they are or
    become views of larger ones.
    """
    if mode == "plain":
        return Layers(MODULES, LEAST_ROWS)
    with threads_set(threads):
        plan, fault = _proved(module, dtype)
        # On a GPU fewer kernels are faster, as captured passes show, which have yet to be made.
        apart = next(module.parameters()).device.type != "cpu"
        if plan is not None and mode == "auto" and not apart:
            of = ("layers", dtype, threads, *_make(module))
            fault = outcome(of, lambda: _race(module, plan, dtype))
        if plan is None or fault:
            _log.info("decoder layers: as modules; a plan: %s", fault)
            return Layers(MODULES, LEAST_ROWS)
        # Passes on a GPU have numbers of their own.
        wide = int(module.config.hidden_size)
        rows = LEAST_ROWS if apart else least_rows(plan, wide, dtype)
    module.forward = plan.forward
    _log.info("decoder layers: as a plan of fewer operations, for %d rows and more", rows)
    return Layers(PLAN, rows)


def _make(module: Any) -> tuple[str, ...]:
    """Kinds of layers, and where parameters are which."""
    kinds = sorted({type(each).__name__ for each in module.modules()})
    return (*kinds, *(f"{name} {tuple(each.shape)}" for name, each in module.named_parameters()))


def _proved(module: Any, dtype: torch.dtype) -> tuple[DecodePlan | None, str]:
    """A plan that computes what ``module`` does; None and the reason when there is none."""
    family = str(module.config.model_type)
    if family not in FAMILIES:
        return None, f"not for {family}"
    device = next(module.parameters()).device.type
    if device not in _DEVICES:
        return None, f"not for {device} devices"
    try:
        wide = any(isinstance(each, QuantizedLinear) for each in module.modules())
        plan = DecodePlan(module, dtype, wide)
        fault = plan_fault(module, plan, dtype)
    # A later version of transformers may have other attributes.
    except (AttributeError, TypeError, ValueError, RuntimeError, ImportError) as error:
        return None, f"not possible: {str(error).partition(chr(10))[0]!r}"
    return (None, fault) if fault else (plan, "")


def _race(module: Any, plan: DecodePlan, dtype: torch.dtype) -> str:
    """The reason why the modules are to be kept; empty when the plan is faster."""
    gain = 0.0
    for count in _RACE_ROWS:
        rows = torch.ones(count, int(module.config.hidden_size), dtype=dtype)
        slow = fast = float("inf")
        deadline = working_seconds() + _RACE_SECONDS
        for done in range(_MOST_LAPS):
            if done < _LEAST_LAPS or working_seconds() < deadline:
                slow = min(slow, _lap(module, rows))
                fast = min(fast, _lap(plan.forward, rows))
        gain += slow - fast
    return "" if gain > 0 else "no gain measured"


def _lap(forward: Callable[..., Any], rows: torch.Tensor) -> float:
    """Seconds of a pass over a first row of as many sessions as there are ``rows`` [n, H]."""
    batch = PackedBatch([Slice(KVCache(), 0, row[None]) for row in rows])
    embeddings, positions = batch.embeddings(), batch.positions(rows.device)
    begin = working_seconds()
    forward(inputs_embeds=embeddings, position_ids=positions, use_cache=False, packed=batch)
    return working_seconds() - begin
