"""The number of threads that a model gets."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.threads import choose_threads, on_passing_thread
from tests.checkpoints import tiny_checkpoint
from tests.engines import tiny_backbone


def test_small_matrices_stay_on_one_core() -> None:
    assert choose_threads([torch.empty(512, 192), torch.empty(192)]) == 1


def test_small_matrices_do_not_wait_for_a_look_at_the_machine() -> None:
    assert choose_threads([torch.empty(8, 8)], free=lambda: pytest.fail("looked")) == 1


@pytest.mark.parametrize(("free", "threads"), [(1, 1), (3, 3), (64, 4)])
def test_large_matrices_use_free_cores_and_no_more_than_torch_has(free: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        assert choose_threads([torch.empty(1024, 1024)], free=lambda: free) == threads
    finally:
        torch.set_num_threads(before)


def test_the_sizes_of_packed_matrices_count(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "wide", intermediate_size=1 << 14)
    backbone = load_backbone(read_checkpoint(path, "wide"), "float32", "cpu", linears="packed")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert choose_threads(backbone.parameters, free=lambda: 2) == 2
    finally:
        torch.set_num_threads(before)


def test_an_operators_number_counts() -> None:
    assert choose_threads([torch.empty(8, 8)], 3) == 3


def test_warming_up_sets_the_threads_of_the_calling_thread(tiny_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        ModelRunner(tiny_backbone(tiny_path)).warm_up()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def _multiply() -> int:
    torch.set_num_threads(3)
    return int((torch.ones(256, 256) @ torch.ones(256, 256)).sum())


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_passing_thread_takes_its_team_of_threads_along() -> None:
    before = _threads()
    teams = []

    def work() -> int:
        product = _multiply()
        teams.append(_threads() - before)
        return product

    assert on_passing_thread(work) == 256**3
    assert teams[0] > 1
    # The kernel takes a moment to forget threads that have ended.
    deadline = time.monotonic() + 20
    while _threads() > before and time.monotonic() < deadline:
        os.sched_yield()
    assert _threads() <= before


def test_what_a_passing_thread_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        on_passing_thread(lambda: 1 // 0)
