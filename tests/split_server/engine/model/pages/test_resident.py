"""Pages that are there as a whole: those of private memory of no file, and no others."""

from __future__ import annotations

import mmap
import sys

import pytest
import torch

from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.integers.fbgemm import FbgemmProduct
from split_server.engine.model.pages.huge import on_huge_pages
from split_server.engine.model.pages.resident import resident_pages

needs_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="pages are read from /proc"
)
_HUGE = 2 << 20
_MAPS = """\
00400000-00900000 rw-p 00000000 00:00 0                                  [heap]
00a00000-00e00000 rw-p 00000000 00:00 0
01000000-01400000 r--p 00000000 00:00 0
01400000-01800000 rw-s 00000000 00:00 0
01800000-01c00000 rw-p 00000000 fe:00 77                                 /weights of a file
01c00000-02000000 rw-p 00000000 00:00 0                                  [stack]
"""


def test_only_private_writable_memory_of_no_file_counts() -> None:
    found = resident_pages(_HUGE, _MAPS, lambda page, size: True)
    assert found == [0x400000, 0x600000, 0xA00000, 0xC00000]


def test_a_page_of_which_a_part_is_missing_is_left_out() -> None:
    missing = 0x600000
    found = resident_pages(_HUGE, _MAPS, lambda page, size: page != missing)
    assert missing not in found
    assert len(found) == 3


@needs_linux
def test_memory_counts_once_all_of_it_has_been_written() -> None:
    with mmap.mmap(-1, 4 * _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        view = torch.frombuffer(memory, dtype=torch.uint8)
        inside = range(view.data_ptr(), view.data_ptr() + len(view) - _HUGE + 1)
        view[: _HUGE // 2] = 1
        before = [page for page in resident_pages(_HUGE) if page in inside]
        view.fill_(1)
        after = [page for page in resident_pages(_HUGE) if page in inside]
        del view
    assert before == []
    assert len(after) >= 3


@needs_linux
@pytest.mark.skipif(bool(product_fault(FbgemmProduct)), reason="no such product here")
def test_matrices_that_tell_no_place_are_put_on_huge_pages_too() -> None:
    matrix = FbgemmProduct(torch.ones(4800, 4096, dtype=torch.int8), torch.ones(4800))
    asked: list[int] = []
    found = on_huge_pages([matrix], lambda begin, length, advice: asked.append(begin) or 0, _HUGE)
    assert found.weights == matrix.hidden_bytes >= 4800 * 4096
    # 19 MB fill at least eight pages, wherever they begin.
    assert len(asked) >= 8
    assert found.huge <= found.weights
