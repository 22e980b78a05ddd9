"""What stays with the process when caches are freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
import torch
from split_server.engine.memory_allocator import give_back_large_blocks
from split_server.engine.memory_usage import process_usage

if sys.argv[1] == "tuned":
    assert give_back_large_blocks()
torch.set_num_threads(1)
before = process_usage().private
# A first large block that is freed raises the library's own threshold.
torch.ones(1 << 22)
caches = [[torch.ones(1 << 18) for _ in range(24)] for _ in range(8)]
kept = [torch.ones(1 << 10)]
for cache in caches:
    # Every session leaves a little behind, as messages and replies do.
    kept.append(torch.ones(1 << 14))
    cache.clear()
    kept.append(torch.ones(1 << 14))
print(process_usage().private - before)
"""


def _left(mode: str) -> int:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM, mode], capture_output=True, text=True, check=True
    )
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="tunes the GNU C library")
def test_freed_buffers_of_caches_go_back_to_the_system() -> None:
    assert _left("tuned") < 8 << 20
