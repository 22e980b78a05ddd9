"""Whole numbers of 8 bits: how far they are from the rows, and how many bytes they take."""

from __future__ import annotations

import pytest
import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.quantise import LARGEST_CODE, NotFinite, expand, parts_of, quantise
from split_server.kv.run import new_coded_slab

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
HEADS, WIDTH = 2, 8


def rows(count: int, dtype: torch.dtype, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys with channels of very different sizes, values with such positions."""
    generator = torch.Generator().manual_seed(seed)
    keys, values = torch.randn(2, HEADS, count, WIDTH, generator=generator)
    keys *= torch.logspace(-3, 2, WIDTH)
    values *= torch.logspace(-3, 2, count)[:, None]
    return keys.to(dtype), values.to(dtype)


def coded(keys: torch.Tensor, values: torch.Tensor, start: int) -> tuple[torch.Tensor, ...]:
    codes, scales = new_coded_slab([(2, *keys.shape)], start)
    quantise(keys, values, start, parts_of(codes[0], scales[0]))
    return codes[0], scales[0]


def back(
    held: tuple[torch.Tensor, ...], start: int, first: int, last: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    keys, values = (torch.full((HEADS, last - first, WIDTH), 7.0, dtype=dtype) for _ in range(2))
    expand(parts_of(*held), start, first, last, keys, values)
    return keys, values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("start", "end"), [(0, 256), (0, 16), (5, 9), (5, 16), (5, 21), (37, 150)])
def test_no_number_is_off_by_more_than_half_a_step_of_its_scale(
    start: int, end: int, dtype: torch.dtype
) -> None:
    keys, values = rows(end - start, dtype)
    found = back(coded(keys, values, start), start, start, end, dtype)
    # A step is the largest number of a block over 127; another half of the dtype's own rounding.
    own = torch.finfo(dtype).eps
    for block in range(start // BLOCK, (end - 1) // BLOCK + 1):
        part = slice(max(start, BLOCK * block) - start, min(end, BLOCK * (block + 1)) - start)
        right = keys[:, part].double()
        largest = right.abs().amax(1, keepdim=True)
        # Scales are rounded to 8 bits, which may leave the largest number a quarter of a step off.
        bound = 0.51 * largest / LARGEST_CODE + own * right.abs()
        assert bool(((found[0][:, part].double() - right).abs() <= bound).all())
    right = values.double()
    bound = 0.51 * right.abs().amax(2, keepdim=True) / LARGEST_CODE + own * right.abs()
    assert bool(((found[1].double() - right).abs() <= bound).all())


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_part_of_a_run_is_what_the_whole_of_it_is(dtype: torch.dtype) -> None:
    start, end = 21, 90
    held = coded(*rows(end - start, dtype), start)
    whole = back(held, start, start, end, dtype)
    for first, last in ((21, 22), (21, 32), (30, 34), (32, 48), (33, 90), (48, 85), (89, 90)):
        part = slice(first - start, last - start)
        for some, all_of_it in zip(back(held, start, first, last, dtype), whole, strict=True):
            assert torch.equal(some, all_of_it[:, part])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cut", [64, 51])
def test_what_was_expanded_gives_the_same_numbers_again_wherever_it_is_cut(
    cut: int, dtype: torch.dtype
) -> None:
    held = coded(*rows(100, dtype), 0)
    once = back(held, 0, 0, 100, dtype)
    whole = cut - cut % BLOCK
    twice = back(coded(*once, 0), 0, 0, 100, dtype)
    later = coded(*(part[:, cut:] for part in once), cut)
    for one, other, part in zip(once, twice, back(later, cut, cut, 100, dtype), strict=True):
        assert torch.equal(one, other)
        # The block that is cut has scales of its own.
        behind = cut if cut == whole else whole + BLOCK
        assert torch.equal(part[:, behind - cut :], one[:, behind:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_and_the_largest_numbers_stay_finite(dtype: torch.dtype) -> None:
    keys, values = torch.zeros(2, HEADS, 32, WIDTH, dtype=dtype)
    assert all(not part.any() for part in back(coded(keys, values, 0), 0, 0, 32, dtype))
    most = torch.finfo(dtype).max
    keys[:, 3], values[:, 9] = most, -most
    for part in back(coded(keys, values, 0), 0, 0, 32, dtype):
        assert bool(part.isfinite().all())
        assert float(part.abs().max()) > 0.98 * most
    tiny = torch.full((HEADS, 32, WIDTH), torch.finfo(dtype).smallest_normal, dtype=dtype)
    for part in back(coded(tiny, -tiny, 0), 0, 0, 32, dtype):
        assert bool(part.isfinite().all())


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_refused(wrong: float) -> None:
    for which in (0, 1):
        both = rows(20, torch.float32)
        both[which][1, 18, 3] = wrong
        with pytest.raises(NotFinite):
            coded(*both, 0)


def test_a_head_of_64_takes_little_more_than_a_byte_a_number() -> None:
    codes, scales = new_coded_slab([(2, 3, 256, 64)] * 2, 512)
    size = sum(part.nbytes for part in (*codes, *scales))
    values = 2 * 2 * 3 * 256 * 64
    assert size / values == pytest.approx(1 + (2 / 16 + 2 / 64) / 2)
    assert size / (4 * values) < 0.30
    assert size / (2 * values) < 0.55


def test_several_layers_at_once_are_what_each_of_them_is() -> None:
    """As a GPU does it."""
    layers = [rows(40, torch.bfloat16, seed) for seed in range(3)]
    codes, scales = new_coded_slab([(2, HEADS, 40, WIDTH)] * 3, 8)
    keys, values = (torch.stack([layer[part] for layer in layers]) for part in (0, 1))
    together = parts_of(torch.stack(codes), torch.stack(scales))
    quantise(keys, values, 8, together)
    for at, layer in enumerate(layers):
        for one, other in zip(parts_of(*coded(*layer, 8)), together, strict=True):
            assert torch.equal(one, other[at])
