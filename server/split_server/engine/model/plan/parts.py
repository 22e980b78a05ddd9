"""What a plan is made of besides matrices and attention, on whatever device it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch

from split_server.engine.model.plan.rope import Turn
from split_server.engine.model.plan.stream import HeadNorm, Norm, Stream

# [..., 2 I] to [..., I].
Gate: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
Activation: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


def gated(activation: Activation) -> Gate:
    """``activation`` of the first half, times the second; its argument is used up."""

    def gate(both: torch.Tensor) -> torch.Tensor:
        inner = both.shape[-1] // 2
        found = activation(both.narrow(-1, 0, inner))
        return found.mul_(both.narrow(-1, inner, inner))

    return gate


@dataclass(frozen=True, slots=True)
class Parts:
    """The kinds of them; ``gate`` takes the activation."""

    norm: type[Norm]
    head_norm: type[HeadNorm]
    stream: type[Stream]
    turn: type[Turn]
    gate: Callable[[Activation], Gate]


PLAIN = Parts(Norm, HeadNorm, Stream, Turn, gated)
