"""How far the next token's distributions of two runs of a model are apart, from hidden states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

# Logits of so many positions are held at once.
_BLOCK = 128


@dataclass(frozen=True, slots=True)
class Likeness:
    """Sums over ``positions``: nats of the targets (0 without), positions with the reference's
    likeliest token, nats of KL(reference, other).
    """

    positions: int
    nats: float
    same: int
    kl: float

    @property
    def perplexity(self) -> float:
        """Of the targets."""
        return math.exp(self.nats / self.positions)

    @property
    def share(self) -> float:
        """Positions with the reference's likeliest token."""
        return self.same / self.positions

    @property
    def mean_kl(self) -> float:
        """Nats at a position."""
        return self.kl / self.positions

    def __add__(self, other: Likeness) -> Likeness:
        return Likeness(
            self.positions + other.positions,
            self.nats + other.nats,
            self.same + other.same,
            self.kl + other.kl,
        )


NOTHING = Likeness(0, 0.0, 0, 0.0)


def likeness(
    reference: torch.Tensor,
    other: torch.Tensor,
    table: torch.Tensor,
    targets: Sequence[int] | None = None,
) -> Likeness:
    """``other`` against ``reference``, float32 hidden states [n, H] each, by the head ``table``
    float32 [V, H]; ``targets`` [n] are the tokens that came next.
    """
    found = NOTHING
    for part in _blocks(len(other)):
        first = torch.log_softmax((reference[part] @ table.T).double(), dim=1)
        second = torch.log_softmax((other[part] @ table.T).double(), dim=1)
        nats = 0.0
        if targets is not None:
            ids = torch.tensor(targets[part])[:, None]
            nats = -float(second.gather(1, ids).sum())
        same = int((first.argmax(1) == second.argmax(1)).sum())
        kl = float((first.exp() * (first - second)).sum())
        found += Likeness(len(first), nats, same, kl)
    return found


def likeliest(states: torch.Tensor, table: torch.Tensor) -> list[int]:
    """The likeliest token after each of the hidden states [n, H]."""
    found = [(states[part] @ table.T).argmax(1) for part in _blocks(len(states))]
    return [int(token) for block in found for token in block]


def margins(states: torch.Tensor, table: torch.Tensor) -> list[float]:
    """The distance of the two largest logits after each of the hidden states [n, H]."""
    best = [torch.topk(states[part] @ table.T, 2).values for part in _blocks(len(states))]
    return [float(pair[0] - pair[1]) for block in best for pair in block]


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK))
