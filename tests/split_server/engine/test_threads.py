"""How many threads a model gets."""

from __future__ import annotations

from pathlib import Path

import torch

from split_server.engine.runner import ModelRunner
from split_server.engine.threads import available_cores, choose_threads
from tests.engines import tiny_backbone


def test_small_matrices_stay_on_one_core() -> None:
    assert choose_threads([torch.empty(512, 192), torch.empty(192)]) == 1


def test_large_matrices_use_the_available_cores_and_no_more() -> None:
    threads = choose_threads([torch.empty(1024, 1024)])
    assert 1 <= threads <= available_cores()
    assert threads == min(torch.get_num_threads(), available_cores())


def test_an_operators_number_counts() -> None:
    assert choose_threads([torch.empty(8, 8)], 3) == 3


def test_warming_up_sets_the_threads_of_the_calling_thread(tiny_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        ModelRunner(tiny_backbone(tiny_path)).warm_up()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
