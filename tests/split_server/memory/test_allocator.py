"""The memory that stays with the process when a pass has freed its workspace."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import threading
import torch
from split_server.memory.allocator import give_back_free_blocks, give_back_large_blocks
from split_server.memory.usage import process_usage

assert give_back_large_blocks()
torch.set_num_threads(1)
torch.ones(1 << 22)

kept = []

def work():
    # Between large blocks lie small ones that stay, as messages and replies do.
    for _ in range(20):
        blocks = []
        for _ in range(5):
            blocks.append(torch.ones(1 << 18))
            kept.append(torch.ones(1 << 10))

def held():
    usage = process_usage()
    return usage.private, usage.data

before = held()
thread = threading.Thread(target=work)
thread.start()
thread.join()
give_back_free_blocks()
print(*(after - then for after, then in zip(held(), before)))
"""

_HEAPS = """
import ctypes
import sys
import threading
from split_server.memory.allocator import share_one_heap

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "one":
    assert share_one_heap()
barrier = threading.Barrier(8)

def work():
    barrier.wait()
    for _ in range(2000):
        libc.free(libc.malloc(4000))

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
report = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, report)
libc.fclose(report)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library's heap")
def test_the_workspace_of_another_thread_goes_back_to_the_system() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True
    )
    private, data = map(int, ran.stdout.split())
    # 100 MB were freed; the stack of a thread may stay mapped.
    assert private < 8 << 20
    assert data < 20 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library's heap")
def test_threads_allocate_from_one_heap_when_they_are_told_to_share_it() -> None:
    assert _heaps_of_eight_threads("own") > 1
    assert _heaps_of_eight_threads("one") == 1


def _heaps_of_eight_threads(kind: str) -> int:
    """Heaps that malloc_info(3) reports."""
    ran = subprocess.run(
        [sys.executable, "-c", _HEAPS, kind], capture_output=True, text=True, check=True
    )
    return ran.stdout.count("<heap nr=")
