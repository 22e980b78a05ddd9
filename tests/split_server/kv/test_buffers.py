"""Buffers are recycled by exact kind, within a bound, from any thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from split_server.kv.buffers import BufferPool

CPU = torch.device("cpu")
SHAPE = (1, 2, 32, 4)
BYTES = 1024


def taken(
    pool: BufferPool, shape: tuple[int, ...] = SHAPE, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    return pool.take(shape, dtype, CPU)


def test_a_given_buffer_is_taken_again() -> None:
    pool = BufferPool(10 * BYTES)
    buffer = taken(pool)
    pool.give(buffer)
    assert pool.idle_bytes == BYTES
    assert taken(pool) is buffer
    assert pool.idle_bytes == 0


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((1, 2, 64, 4), torch.float32), ((1, 1, 64, 4), torch.float32), (SHAPE, torch.bfloat16)],
)
def test_another_shape_or_dtype_is_another_buffer(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    pool = BufferPool(10 * BYTES)
    buffer = taken(pool)
    pool.give(buffer)
    other = taken(pool, shape, dtype)
    assert other is not buffer
    assert (tuple(other.shape), other.dtype) == (shape, dtype)


def test_what_would_exceed_the_bound_is_freed() -> None:
    pool = BufferPool(2 * BYTES)
    for buffer in [taken(pool) for _ in range(3)]:
        pool.give(buffer)
    assert pool.idle_bytes == 2 * BYTES


def test_a_lower_bound_frees_at_once_and_holds_from_then_on() -> None:
    pool = BufferPool(4 * BYTES)
    buffers = [taken(pool) for _ in range(4)]
    for buffer in buffers[:3]:
        pool.give(buffer)
    pool.bound(BYTES)
    assert pool.idle_bytes == BYTES
    pool.give(buffers[3])
    assert pool.idle_bytes == BYTES


def test_trimming_frees_as_much_as_asked_starting_with_the_kind_given_least_recently() -> None:
    pool = BufferPool(10 * BYTES)
    old, new = taken(pool), taken(pool, (1, 1, 32, 4))
    pool.give(old)
    pool.give(new)
    pool.trim(BYTES // 4)
    assert pool.idle_bytes == BYTES // 2
    assert taken(pool, (1, 1, 32, 4)) is new


def test_clearing_frees_everything() -> None:
    pool = BufferPool(10 * BYTES)
    for buffer in [taken(pool) for _ in range(3)]:
        pool.give(buffer)
    pool.clear()
    assert pool.idle_bytes == 0


def test_a_poisoned_pool_leaves_no_row_of_the_user_before() -> None:
    pool = BufferPool(10 * BYTES, poison=True)
    buffer = taken(pool).zero_()
    pool.give(buffer)
    assert taken(pool).isnan().all()


def test_a_buffer_that_was_taken_in_inference_mode_is_writable_outside_of_it() -> None:
    pool = BufferPool(10 * BYTES)
    with torch.inference_mode():
        buffer = taken(pool)
    assert buffer.zero_().sum() == 0


def test_threads_never_hold_the_same_buffer_and_the_bound_holds() -> None:
    pool = BufferPool(3 * BYTES)
    failures: list[str] = []

    def work(mark: int) -> None:
        rng = np.random.default_rng(mark)
        held: list[torch.Tensor] = []
        for _ in range(300):
            if held and rng.random() < 0.5:
                buffer = held.pop(int(rng.integers(len(held))))
                if not bool((buffer == mark).all()):
                    failures.append("somebody else wrote into a held buffer")
                pool.give(buffer)
            else:
                held.append(taken(pool).fill_(mark))
            if not 0 <= pool.idle_bytes <= 3 * BYTES:
                failures.append(f"{pool.idle_bytes} bytes are idle")

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
