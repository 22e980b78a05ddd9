"""How a loaded model keeps its matrices: plain, packed for the processor, or quantized."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import torch

from split_server.checkpoint.families import EMBEDDING, family_of
from split_server.checkpoint.folder import Checkpoint
from split_server.engine.linears.choice import arrange_linears
from split_server.engine.linears.int4.layer import MANY_ROWS
from split_server.engine.linears.int4.quantize import int4_linears, require_int4
from split_server.engine.linears.prepacked import linear_places
from split_server.engine.linears.quantize import quantize_linears
from split_server.engine.model.grouped import fill
from split_server.engine.model.moments import input_moments, random_rows
from split_server.engine.model.race import Laps, race

_log = logging.getLogger(__name__)


class Matrices(NamedTuple):
    """``kept``: how, in words; ``quantized``: none, int8 or int4; ``laps``: of the ways, where they
    were raced.
    """

    kept: str = "plain"
    quantized: str = "none"
    laps: Laps | None = None


def keep_matrices(
    module: Any,
    checkpoint: Checkpoint,
    device: torch.device,
    *,
    linears: str,
    quantize: str,
    threads: int,
    merge: bool = False,
) -> Matrices:
    """Move ``module`` to ``device`` and replace its linear layers as ``quantize`` says (none, int8,
    int4, auto), else as ``linears`` and ``merge`` do (``arrange_linears``).

    Raises UnusableDevice, MalformedCheckpoint.
    """
    if quantize == "int4":
        require_int4(device, next(module.parameters()).dtype)
        return Matrices(_int4(module, checkpoint), "int4")
    if checkpoint.grouped:
        fill(module, checkpoint, int4=False)
        _log.info("matrices of four bits are unpacked; --quantize int4 keeps them as they are")
    module.to(device)
    if quantize == "int8":
        return Matrices(quantize_linears(module), "int8")
    laps = race(module, threads) if quantize == "auto" and device.type == "cpu" else None
    return Matrices(arrange_linears(module, linears, threads, merge=merge), laps=laps)


def _int4(module: Any, checkpoint: Checkpoint) -> str:
    _log.info(
        "int4 is for few sessions and little memory: every row of a pass costs the same, so "
        "sessions at once gain little, and passes above %d rows unpack all matrices",
        MANY_ROWS,
    )
    if checkpoint.grouped:
        total = sum(1 for _ in linear_places(module))
        kept = fill(module, checkpoint, int4=True)
        return f"int4 ({kept} of {total}, as in the checkpoint)"
    scale = family_of(checkpoint.config).ends(checkpoint.config, checkpoint.tensors).embedding_scale
    rows = random_rows(checkpoint.tensors[EMBEDDING]) * (scale or 1.0)
    return int4_linears(module, input_moments(module, rows.to(next(module.parameters()).dtype)))
