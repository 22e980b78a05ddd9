"""Huge pages under weights: what is asked of the kernel, and that sizes stay what they are.

Linux makes a huge page of the small ones that are there (madvise(2), MADV_COLLAPSE, since 6.1),
whatever /sys/kernel/mm/transparent_hugepage/enabled says: memory that is in use changes its place
and not its size. Keys, values and workspaces stay as they are.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch

from split_server.engine.linears.integers.fbgemm import FbgemmProduct
from split_server.engine.linears.prepacked import OPERATOR_ERRORS
from split_server.engine.model.pages.resident import resident_pages

# <linux/mman.h>
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25
_SIZE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
# Blocks of the heap that follow each other: what the C library writes between them, and the rest
# of a page.
_GAP = 2 * mmap.PAGESIZE
# Each further try would take the kernel milliseconds of looking for free memory.
_FAILURES_IN_A_ROW = 16
_WORDS = {
    errno.EINVAL: "not with this kernel: Linux 6.1 or newer",
    errno.ENOMEM: "no free memory in one piece",
}
# Bytes from an address on, and an advice; 0 or the number of an error.
Advise: TypeAlias = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class HugePages:
    """``huge`` of the bytes that ``weights`` take; of ``tried`` pages ``failed`` were not made,
    the first one for ``reason``.
    """

    weights: int
    huge: int = 0
    tried: int = 0
    failed: int = 0
    reason: str = ""

    def __str__(self) -> str:
        found = f"{self.huge >> 20} of {self.weights >> 20} MiB of weights"
        if self.failed:
            return f"{found}, {self.failed} of {self.tried} pages failed ({self.reason})"
        return f"{found} ({self.reason})" if self.reason else found


def on_huge_pages(root: Any, advise: Advise | None = None, size: int | None = None) -> HugePages:
    """Put the tensors that ``root`` holds on huge pages where they fill whole ones.

    ``size``: bytes of a huge page, 0 where there are none. Pages that cannot be made now are left
    to the kernel to make later; nothing is raised.
    """
    spans, hidden = _spans(held_tensors(root)), _hidden_bytes(root)
    weights = sum(end - begin for begin, end in spans) + hidden
    size = _page_size() if size is None else size
    if not size:
        return HugePages(weights, reason="this system has none")
    pages = [page for span in spans for page in _whole(span, size)]
    if hidden:
        pages = sorted({*pages, *resident_pages(size)})
    return _collapsed(pages, size, weights, advise or _advise())


def _collapsed(pages: list[int], size: int, weights: int, advise: Advise) -> HugePages:
    failed: list[int] = []
    reason, in_a_row = "", 0
    for at, page in enumerate(pages):
        fault = advise(page, size, _MADV_COLLAPSE)
        in_a_row = in_a_row + 1 if fault else 0
        if fault:
            failed.append(page)
            reason = reason or _WORDS.get(fault) or errno.errorcode.get(fault, str(fault))
        if in_a_row == _FAILURES_IN_A_ROW:
            failed += pages[at + 1 :]
            break
    for page in failed:
        advise(page, size, _MADV_HUGEPAGE)
    huge = min(weights, (len(pages) - len(failed)) * size)
    return HugePages(weights, huge, len(pages), len(failed), reason)


def held_tensors(root: Any) -> Iterator[torch.Tensor]:
    """Every tensor that ``root`` holds, once: in modules, in this package's objects, in containers.

    Packed matrices are no parameters, so a module does not list them.
    """
    return (thing for thing in _held(root) if isinstance(thing, torch.Tensor))


def _hidden_bytes(root: Any) -> int:
    """Of matrices whose library does not tell where they lie."""
    return sum(thing.hidden_bytes for thing in _held(root) if isinstance(thing, FbgemmProduct))


def _held(root: Any) -> Iterator[Any]:
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        yield thing
        if isinstance(thing, Mapping):
            waiting.extend(thing.values())
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting.extend(thing)
        elif isinstance(thing, torch.nn.Module) or _is_own(thing):
            waiting.extend(_attributes(thing))


def _is_own(thing: Any) -> bool:
    return type(thing).__module__.partition(".")[0] == __name__.partition(".")[0]


def _attributes(thing: Any) -> Iterator[Any]:
    yield from getattr(thing, "__dict__", {}).values()
    for kind in type(thing).__mro__:
        names = kind.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            yield getattr(thing, name, None)


def _spans(tensors: Iterable[torch.Tensor]) -> list[tuple[int, int]]:
    """Where the tensors lie in memory, in order; those that follow each other together."""
    spans: list[tuple[int, int]] = []
    for begin, end in sorted(set(filter(None, map(_place, tensors)))):
        if spans and begin - spans[-1][1] <= _GAP:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans


def _place(tensor: torch.Tensor) -> tuple[int, int] | None:
    """The addresses of the first byte and behind the last one; None: not in this memory."""
    if tensor.device.type != "cpu":
        return None
    try:
        # What oneDNN has packed has no storage of torch's (torch/csrc/ATen: mkldnn/Linear.cpp).
        if tensor.is_mkldnn:
            begin, size = torch.ops.mkldnn.data_ptr(tensor), torch.ops.mkldnn._nbytes(tensor)
        else:
            storage = tensor.untyped_storage()
            begin, size = storage.data_ptr(), storage.nbytes()
    except OPERATOR_ERRORS:
        return None
    return begin, begin + size


def _whole(span: tuple[int, int], size: int) -> range:
    """The addresses of the huge pages that ``span`` fills."""
    begin, end = span
    return range(-(-begin // size) * size, end // size * size, size)


def _page_size() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return int(_SIZE.read_text())
    except (OSError, ValueError):
        return 0


def _advise() -> Advise:
    library = ctypes.CDLL(None, use_errno=True)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def advise(begin: int, length: int, advice: int) -> int:
        return ctypes.get_errno() if library.madvise(begin, length, advice) else 0

    return advise
