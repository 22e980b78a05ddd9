"""Keys at another position: what the rotary embedding did is undone and done for the new place.

A key is turned pair by pair (Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864) by cosines
and sines that the model computes and rounds itself. Turning it on by the difference of two
positions would leave out that rounding, which grows with the position; so the very numbers of the
old position are undone and those of the new one applied. They need not lie on a circle: a scaled
rope stretches them, and bfloat16 rounds each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

# Cosines and sines [1, n, T] of positions [1, n], as the model turns the first T values of a head.
Angles: TypeAlias = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True, slots=True)
class Rope:
    """``angles``: of one kind of layers; ``adjacent``: a value is paired with its neighbour, else
    one of the first half with one of the second.
    """

    angles: Angles
    adjacent: bool = False


class KeyRotation:
    """``ropes``: that of each layer, None where a layer has none; ``device``: of the keys."""

    def __init__(self, ropes: Sequence[Rope | None], device: torch.device) -> None:
        self._ropes = list(ropes)
        self._device = device

    @property
    def device(self) -> torch.device:
        """Of the keys."""
        return self._device

    @property
    def depth(self) -> int:
        """Layers that it knows."""
        return len(self._ropes)

    def move(self, old: int, new: int, count: int) -> KeyMove:
        """What takes ``count`` keys that begin at position ``old`` to ``new``."""
        if old == new:
            return KeyMove([None] * self.depth)
        turns = dict[int, _Turn]()
        for rope in self._ropes:
            if rope is not None and id(rope) not in turns:
                turns[id(rope)] = self._turn(rope, old, new, count)
        return KeyMove([None if rope is None else turns[id(rope)] for rope in self._ropes])

    def _turn(self, rope: Rope, old: int, new: int, count: int) -> _Turn:
        steps = torch.arange(count, device=self._device)[None]
        with torch.no_grad():
            before, after = rope.angles(steps + old), rope.angles(steps + new)
            # The numbers are those of the model; what is worked out from them is not to add to
            # their rounding.
            cos, sin = (_halved(part[0].double(), rope.adjacent) for part in before)
            new_cos, new_sin = (_halved(part[0].double(), rope.adjacent) for part in after)
            size = cos.square() + sin.square()
            return _Turn(
                ((cos * new_cos + sin * new_sin) / size).float(),
                ((cos * new_sin - sin * new_cos) / size).float(),
                rope.adjacent,
            )


class KeyMove:
    """Takes keys from one place to another, layer by layer."""

    def __init__(self, turns: Sequence[_Turn | None]) -> None:
        self._turns = list(turns)

    def __call__(self, layer: int, keys: torch.Tensor) -> torch.Tensor:
        """``keys`` [kv_heads, n, head_dim] of ``layer`` at their new place, in their dtype."""
        turn = self._turns[layer]
        return keys if turn is None else turn(keys)


@dataclass(frozen=True, slots=True)
class _Turn:
    """``cos`` and ``sin`` [n, T / 2] in float32."""

    cos: torch.Tensor
    sin: torch.Tensor
    adjacent: bool

    def __call__(self, keys: torch.Tensor) -> torch.Tensor:
        turned, width = keys.float(), 2 * self.cos.shape[-1]
        # With the dtype, what is turned in place is the copy.
        turned = turned.clone() if turned is keys else turned
        if self.adjacent:
            first, second = turned[..., 0:width:2], turned[..., 1:width:2]
        else:
            first, second = turned[..., : width // 2], turned[..., width // 2 : width]
        one = first * self.cos - second * self.sin
        other = second * self.cos + first * self.sin
        first.copy_(one)
        second.copy_(other)
        return turned.to(keys.dtype)


def _halved(numbers: torch.Tensor, adjacent: bool) -> torch.Tensor:
    """[n, T] has each number twice: once for each value of a pair."""
    return numbers[:, ::2] if adjacent else numbers[:, : numbers.shape[1] // 2]
