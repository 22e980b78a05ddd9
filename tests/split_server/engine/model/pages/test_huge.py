"""Weights on huge pages: which pages, what becomes of failures, and that nothing else changes."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.prepacked import PackedLinear, packing_fault
from split_server.engine.linears.stacked import StackedProduct
from split_server.engine.model.pages.huge import HugePages, held_tensors, on_huge_pages

needs_int8 = pytest.mark.skipif(bool(product_fault()), reason="no exact int8 products here")
_SIZE = 1 << 16
_HINT, _COLLAPSE = 14, 25


class Kernel:
    """Remembers what it is advised; ``answers`` to collapses, then ``last`` for all others."""

    def __init__(self, *answers: int, last: int = 0) -> None:
        self._answers, self._last = list(answers), last
        self.collapsed: list[range] = []
        self.hinted: list[int] = []

    def __call__(self, begin: int, length: int, advice: int) -> int:
        if advice == _HINT:
            self.hinted.append(begin)
            return 0
        assert advice == _COLLAPSE
        self.collapsed.append(range(begin, begin + length))
        return self._answers.pop(0) if self._answers else self._last


def _weights(pages: int = 8) -> torch.Tensor:
    """Fills at least ``pages`` pages, wherever it begins."""
    return torch.zeros((pages + 1) * _SIZE, dtype=torch.uint8)


def test_every_page_lies_inside_of_the_weights() -> None:
    weights, kernel = _weights(), Kernel()
    found = on_huge_pages([weights], kernel, _SIZE)
    begin, end = weights.data_ptr(), weights.data_ptr() + weights.nbytes
    assert all(begin <= page.start and page.stop <= end for page in kernel.collapsed)
    assert all(page.start % _SIZE == 0 and len(page) == _SIZE for page in kernel.collapsed)
    assert len(kernel.collapsed) == found.tried >= 8
    assert (found.huge, found.failed) == (found.tried * _SIZE, 0)
    assert found.weights == weights.nbytes
    assert kernel.hinted == []


def _pieces(gap: int) -> list[torch.Tensor]:
    """Tensors of less than a page each, ``gap`` bytes behind each other."""
    whole, length = bytearray(32 * _SIZE), _SIZE - 4096
    places = range(0, len(whole) - length, length + gap)
    return [torch.frombuffer(whole, dtype=torch.uint8, offset=at, count=length) for at in places]


@pytest.mark.parametrize("gap", [0, 64, 4096])
def test_matrices_that_follow_each_other_fill_pages_together(gap: int) -> None:
    assert on_huge_pages(_pieces(gap), Kernel(), _SIZE).tried >= 24


def test_what_lies_between_matrices_that_are_apart_stays_as_it_is() -> None:
    assert on_huge_pages(_pieces(16384), Kernel(), _SIZE).tried == 0


def test_a_page_that_fails_is_counted_left_to_the_kernel_and_the_next_one_tried() -> None:
    kernel = Kernel(0, errno.EAGAIN, 0, errno.ENOMEM)
    found = on_huge_pages([_weights()], kernel, _SIZE)
    assert (found.failed, found.reason) == (2, "EAGAIN")
    assert found.huge == (found.tried - 2) * _SIZE
    assert kernel.hinted == [kernel.collapsed[1].start, kernel.collapsed[3].start]


def test_a_kernel_that_makes_none_is_not_asked_for_each_page() -> None:
    kernel = Kernel(last=errno.EINVAL)
    found = on_huge_pages([_weights(64)], kernel, _SIZE)
    assert len(kernel.collapsed) == 16
    assert found.failed == found.tried == len(kernel.hinted) >= 64
    assert (found.huge, "6.1" in str(found)) == (0, True)


def test_single_failures_never_end_it() -> None:
    kernel = Kernel(*[errno.EBUSY, 0] * 32)
    found = on_huge_pages([_weights(64)], kernel, _SIZE)
    assert len(kernel.collapsed) == found.tried
    assert found.failed == 32


def test_a_system_without_huge_pages_is_left_alone() -> None:
    kernel = Kernel()
    found = on_huge_pages([_weights()], kernel, 0)
    assert (kernel.collapsed, found.huge) == ([], 0)
    assert str(found) == "0 of 0 MiB of weights (this system has none)"


def test_small_weights_fill_no_page() -> None:
    kernel = Kernel()
    assert on_huge_pages([torch.zeros(16)], kernel, _SIZE).tried == 0
    assert kernel.collapsed == []


def test_it_says_what_failed() -> None:
    found = HugePages(weights=700 << 20, huge=640 << 20, tried=330, failed=10, reason="EBUSY")
    assert str(found) == "640 of 700 MiB of weights, 10 of 330 pages failed (EBUSY)"
    assert str(HugePages(700 << 20, 640 << 20, 320)) == "640 of 700 MiB of weights"


def test_tensors_are_found_wherever_a_module_keeps_them() -> None:
    module = torch.nn.Linear(2, 2)
    module.register_buffer("table", torch.zeros(3))
    foreign = SimpleNamespace(own=torch.zeros(5))
    vars(module)["kept"] = {"list": [torch.zeros(4)], "foreign": foreign}
    module.again = module.weight
    sizes = sorted(tensor.numel() for tensor in held_tensors(module))
    assert sizes == [2, 3, 4, 4]


@needs_int8
def test_the_matrices_of_quantized_layers_are_found() -> None:
    product = StackedProduct([torch.randn(256, 512), torch.randn(64, 512)])
    found = on_huge_pages({"layers": [product]}, Kernel(), _SIZE)
    assert 320 * 512 <= found.weights < 2 * 320 * 512


def test_a_ring_of_objects_ends() -> None:
    ring: list[object] = [torch.zeros(1)]
    ring.append(ring)
    assert len(list(held_tensors(ring))) == 1


def test_packed_matrices_are_found() -> None:
    linear = torch.nn.Linear(512, 1024, bias=False)
    if packing_fault(linear):
        pytest.skip("cannot be packed here")
    packed = PackedLinear(linear.weight, None)
    assert on_huge_pages(packed, Kernel(), _SIZE).weights >= linear.weight.nbytes


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are read from /proc")
def test_the_pages_of_a_large_tensor_are_huge_or_counted_as_failed() -> None:
    weights = torch.ones(64 << 20, dtype=torch.uint8)
    before = _private_bytes()
    found = on_huge_pages([weights])
    assert found.huge + found.failed * (2 << 20) <= weights.nbytes
    if found.tried:
        assert _huge_bytes(weights) >= found.huge
    assert abs(_private_bytes() - before) < 4 << 20
    assert int(weights.sum()) == weights.nbytes


def _private_bytes() -> int:
    return _field(Path("/proc/self/status").read_text(), "RssAnon")


def _huge_bytes(tensor: torch.Tensor) -> int:
    """Of the mappings that ``tensor`` lies in (proc_pid_smaps(5))."""
    begin, end, total, inside = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes, 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name = line.split(maxsplit=1)[0]
        if not name.endswith(":"):
            low, high = (int(bound, 16) for bound in name.split("-"))
            inside = low < end and begin < high
        elif inside and name == "AnonHugePages:":
            total += int(line.split()[1]) << 10
    return total


def _field(text: str, name: str) -> int:
    return int(dict(line.split(":", 1) for line in text.splitlines())[name].split()[0]) << 10
