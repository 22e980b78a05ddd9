"""A loaded middle, whatever engine computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import torch

from split_server.engine.backend import Runner
from split_server.engine.model.blending import Blending
from split_server.engine.model.info import ModelInfo
from split_server.engine.streamed.layers import Stream
from split_server.errors import NoKeyRotation
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.sharing_rule import SharingRule
from split_server.memory.measured import MeasuredRoom
from split_server.memory.planner import MemoryPlanner


def _no_rotation() -> NoReturn:
    raise NoKeyRotation("this engine", "its keys are not torch's")


@dataclass(frozen=True, kw_only=True)
class Middle:
    """``info`` of the model that ``runner`` computes on ``device``, at most ``pass_rows`` at a time
    and with hidden states in ``dtype``; ``open_room`` gives the room for sessions' caches in what
    is left once all is loaded, and ``kernels`` says with what it computes; ``weights``: bytes of
    its matrices in memory; ``quantized``: how its
    matrices are rounded, none where they are not; ``sharing_rule``
    measures from how many sessions on a common beginning is read together, None where it never is;
    ``hides``: whether rows of a session may be hidden from its later ones; ``rotation`` gives what
    moves keys and raises NoKeyRotation where nothing does; ``blending`` computes rows between those
    anew, None where nothing does; ``stream``: of layers that are read in each pass, None where all
    are in memory.
    """

    info: ModelInfo
    runner: Runner
    device: torch.device
    dtype: torch.dtype
    pass_rows: int
    planner: MemoryPlanner
    open_room: Callable[[], MeasuredRoom]
    kernels: Mapping[str, str]
    weights: int = 0
    quantized: str = "none"
    sharing_rule: Callable[[], SharingRule | None] = lambda: None
    hides: bool = False
    rotation: Callable[[], KeyRotation] = _no_rotation
    blending: Blending | None = None
    stream: Stream | None = None
