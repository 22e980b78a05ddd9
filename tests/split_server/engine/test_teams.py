"""Teams of OpenMP's threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from split_server.engine.teams import _libraries, release_team
from tests.patience import until


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_team_goes_while_its_thread_stays_and_comes_back_with_the_next_product() -> None:
    def multiply() -> float:
        torch.set_num_threads(3)
        return float((torch.ones(512, 512) @ torch.ones(512, 512)).sum())

    before = torch.get_num_threads()
    with ThreadPoolExecutor(1) as thread:
        product = thread.submit(multiply).result()
        with_team = _threads()
        thread.submit(release_team).result()
        until(lambda: _threads() <= with_team - 2)
        assert thread.submit(multiply).result() == product
        assert _threads() >= with_team
    torch.set_num_threads(before)


def test_torchs_own_library_comes_first() -> None:
    maps = "\n".join(
        f"7f00-7f01 r-xp 00000000 08:01 7 {path}"
        for path in ("/usr/lib/libgomp.so.1", "/usr/lib/libc.so.6", "/x/torch/lib/libgomp.so.1")
    )
    assert _libraries(maps) == ["/x/torch/lib/libgomp.so.1", "/usr/lib/libgomp.so.1"]
