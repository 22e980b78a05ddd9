"""Keys that are moved: there and back, in which layers, and what is left alone."""

from __future__ import annotations

import pytest
import torch

from split_server.kv.moving.rotate import Angles, KeyRotation, Rope

HEADS, WIDTH = 2, 8
HOST = torch.device("cpu")


def angles(width: int, *, adjacent: bool, stretch: float = 1.0, base: float = 100.0) -> Angles:
    steps = 1.0 / base ** (torch.arange(0, width, 2) / width)

    def of(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        turned = positions[..., None].float() * steps
        every = turned.repeat_interleave(2, -1) if adjacent else torch.cat((turned, turned), -1)
        return every.cos() * stretch, every.sin() * stretch

    return of


def keys(count: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(HEADS, count, WIDTH, generator=torch.manual_seed(0)).to(dtype)


@pytest.mark.parametrize("adjacent", [False, True])
@pytest.mark.parametrize("width", [WIDTH, 4])
def test_there_and_back_are_the_same_keys(adjacent: bool, width: int) -> None:
    rope = Rope(angles(width, adjacent=adjacent, stretch=1.4), adjacent)
    rotation, held = KeyRotation([rope], HOST), keys(5)
    moved = rotation.move(3, 41, 5)(0, held)
    assert not torch.allclose(moved, held, atol=1e-3)
    assert torch.allclose(rotation.move(41, 3, 5)(0, moved), held, atol=1e-6)


def test_what_is_beyond_a_partial_rope_is_left_as_it_is() -> None:
    rotation, held = KeyRotation([Rope(angles(4, adjacent=False))], HOST), keys(5)
    assert torch.equal(rotation.move(0, 9, 5)(0, held)[..., 4:], held[..., 4:])


def test_each_layer_is_moved_by_its_own_rope() -> None:
    one = Rope(angles(WIDTH, adjacent=False))
    other = Rope(angles(WIDTH, adjacent=False, base=7.0))
    rotation, held = KeyRotation([one, None, other, one], HOST), keys(3)
    move = rotation.move(2, 12, 3)
    first, none, second, again = (move(layer, held) for layer in range(rotation.depth))
    assert none is held
    assert torch.equal(first, again)
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_keys_that_are_moved_stay_as_they_were(dtype: torch.dtype) -> None:
    rotation, held = KeyRotation([Rope(angles(WIDTH, adjacent=True), adjacent=True)], HOST), keys(4)
    before = held.clone()
    assert rotation.move(0, 5, 4)(0, held.to(dtype)).dtype == dtype
    assert torch.equal(held, before)


def test_keys_that_stay_where_they_are_are_not_touched() -> None:
    rotation, held = KeyRotation([Rope(angles(WIDTH, adjacent=False))], HOST), keys(4)
    assert rotation.move(5, 5, 4)(0, held) is held
