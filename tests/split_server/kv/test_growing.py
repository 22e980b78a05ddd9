"""A growing layer holds what torch.cat would, copies little, and gives memory back."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.kv.capacity import capacity_for
from split_server.kv.growing import GrowingLayer

ROW_BYTES = 2 * 4 * 4  # two heads of four float32 numbers


def rows(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values [1, 2, count, 4] as a model makes them: views of [1, count, 2, 4]."""
    both = torch.randn(2, 1, count, 2, 4, generator=torch.Generator().manual_seed(seed))
    return both[0].transpose(1, 2), both[1].transpose(1, 2)


def filled(count: int, pool: BufferPool | None = None) -> GrowingLayer:
    layer = GrowingLayer(pool)
    layer.append(*rows(count))
    return layer


class CountingPool(BufferPool):
    """Knows how many bytes are out, and how many there were at most; fails when told to."""

    def __init__(self) -> None:
        super().__init__(0)
        self.out = self.peak = 0
        self.takes_left = 1 << 30

    def take(self, *kind: object) -> torch.Tensor:
        if self.takes_left == 0:
            raise MemoryError
        self.takes_left -= 1
        buffer = super().take(*kind)  # type: ignore[arg-type]
        self.out += buffer.nbytes
        self.peak = max(self.peak, self.out)
        return buffer

    def give(self, buffer: torch.Tensor) -> None:
        self.out -= buffer.nbytes
        super().give(buffer)


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 300)), max_size=12))
def test_appends_and_truncations_give_what_concatenation_gives(
    moves: list[tuple[int, int]],
) -> None:
    layer = GrowingLayer(BufferPool(1 << 20, poison=True))
    keys, values = (torch.empty(1, 2, 0, 4) for _ in range(2))
    for seed, (count, kept) in enumerate(moves):
        layer.truncate(kept)
        new_keys, new_values = rows(count, seed)
        keys = torch.cat([keys[:, :, :kept], new_keys], dim=2)
        values = torch.cat([values[:, :, :kept], new_values], dim=2)
        held_keys, held_values = layer.append(new_keys, new_values)
        assert torch.equal(held_keys, keys)
        assert torch.equal(held_values, values)
        assert torch.equal(layer.keys, keys)
        assert layer.get_seq_length() == keys.shape[2]
        assert layer.capacity >= keys.shape[2]


def test_the_first_rows_decide_shape_and_dtype() -> None:
    layer = GrowingLayer()
    keys, values = layer.append(
        torch.zeros(1, 3, 5, 8, dtype=torch.bfloat16), torch.ones(1, 3, 5, 6, dtype=torch.bfloat16)
    )
    assert (keys.shape, values.shape) == ((1, 3, 5, 8), (1, 3, 5, 6))
    assert keys.dtype == values.dtype == torch.bfloat16


def test_while_there_is_room_nothing_that_is_held_is_copied() -> None:
    layer = filled(33)
    place = layer.keys.data_ptr()
    for seed in range(31):
        layer.append(*rows(1, seed))
    assert (layer.capacity, layer.keys.data_ptr()) == (64, place)
    layer.append(*rows(1))
    assert layer.capacity == 96


def test_allocated_bytes_are_those_of_the_buffers() -> None:
    assert GrowingLayer().allocated_bytes == 0
    assert filled(33).allocated_bytes == 2 * 64 * ROW_BYTES


def test_growing_takes_one_extra_layer_at_a_time() -> None:
    pool = CountingPool()
    cache = KVCache(pool)
    for _ in range(4):
        for index in range(8):
            cache.layer(index).append(*rows(100))
        assert pool.out == cache.allocated_bytes
        assert pool.peak <= cache.allocated_bytes + cache.layer(0).allocated_bytes


@pytest.mark.parametrize("takes", [0, 1])
@pytest.mark.parametrize("kept", [100, 5])
def test_a_layer_that_gets_no_memory_holds_what_it_held(takes: int, kept: int) -> None:
    pool = CountingPool()
    layer = filled(150, pool)
    layer.truncate(kept)
    pool.takes_left = takes
    with pytest.raises(MemoryError):
        layer.append(*rows(61 if kept == 100 else 1))
    keys, values = rows(150)
    assert torch.equal(layer.keys, keys[:, :, :kept])
    assert torch.equal(layer.values, values[:, :, :kept])
    pool.takes_left = 2
    longer, _ = layer.append(*rows(61, 1))
    assert torch.equal(longer, torch.cat([keys[:, :, :kept], rows(61, 1)[0]], dim=2))


def test_after_a_truncation_below_a_quarter_the_next_append_gives_memory_back() -> None:
    layer = filled(1000)
    layer.truncate(100)
    keys, _ = layer.append(*rows(1, 1))
    assert layer.capacity == capacity_for(101)
    assert torch.equal(keys[:, :, :100], rows(1000)[0][:, :, :100])


def test_after_a_truncation_to_more_than_a_quarter_the_buffers_stay() -> None:
    layer = filled(1000)
    place = layer.keys.data_ptr()
    layer.truncate(500)
    layer.append(*rows(1))
    assert layer.keys.data_ptr() == place


def test_buffers_stay_when_the_rows_after_a_truncation_fill_them_again() -> None:
    layer = filled(1000)
    place = layer.keys.data_ptr()
    layer.truncate(10)
    layer.append(*rows(900))
    assert layer.keys.data_ptr() == place


def test_a_released_layer_is_as_new() -> None:
    pool = BufferPool(1 << 20)
    layer = filled(40, pool)
    layer.release()
    assert (layer.get_seq_length(), layer.capacity, layer.is_initialized) == (0, 0, False)
    assert pool.idle_bytes == 2 * 64 * ROW_BYTES
    layer.release()
    assert pool.idle_bytes == 2 * 64 * ROW_BYTES
    keys, _ = layer.append(torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2))
    assert keys.shape == (1, 1, 3, 2)


def test_reset_holds_nothing() -> None:
    layer = filled(40)
    layer.reset()
    assert layer.get_seq_length() == 0


@pytest.mark.parametrize(("removed", "kept"), [(0, 40), (-1, 39), (-40, 0), (-50, 0)])
def test_crop_takes_a_negative_number(removed: int, kept: int) -> None:
    layer = filled(40)
    layer.crop(removed)
    assert layer.get_seq_length() == kept
    assert torch.equal(layer.keys, rows(40)[0][:, :, :kept])


def test_crop_refuses_a_positive_number() -> None:
    with pytest.raises(ValueError, match="negative"):
        filled(40).crop(3)


def test_rows_with_gradients_leave_the_buffers_without() -> None:
    layer = GrowingLayer()
    keys, values = rows(3)
    held, _ = layer.update(keys.requires_grad_(), values)
    assert not held.requires_grad
    layer.update(*rows(3))
    assert layer.get_seq_length() == 6


def test_a_layer_filled_in_inference_mode_is_continued_outside_of_it() -> None:
    with torch.inference_mode():
        layer = filled(3)
    keys, _ = layer.append(*rows(3, 1))
    assert torch.equal(keys, torch.cat([rows(3)[0], rows(3, 1)[0]], dim=2))
