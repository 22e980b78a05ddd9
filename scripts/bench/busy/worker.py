"""Some layers of a model: ``python -m scripts.bench.busy.worker CHECKPOINT DTYPE LAYERS PAGES``.

PAGES: huge or small. Requests: those of ``scripts.bench.step.runner``, ``threads``, ``realtime``,
``products``, ``pages``.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from scripts.bench.report import private_bytes
from scripts.bench.step.runner import RunnerWorker
from scripts.bench.workers import serve
from split_server.engine.linears.prepacked import PackedLinear
from split_server.engine.model.plan.choice import arrange_layers

# <linux/prctl.h>, see prctl(2).
_PR_SET_THP_DISABLE = 41
_REPEATS = 3


class BusyWorker(RunnerWorker):
    """Answers the requests with the first layers of a model."""

    def __init__(self, path: Path, dtype: str, layers: int) -> None:
        super().__init__(path, dtype, {"threads": 1, "linears": "packed"})
        module = self._backbone.module
        module.layers = module.layers[:layers]
        self._config.num_hidden_layers = len(module.layers)
        # A plan is one of the layers that were there when it was made.
        vars(module).pop("forward", None)
        arrange_layers(module, self._backbone.dtype, "packed")
        self._linears = [each for each in module.modules() if isinstance(each, PackedLinear)]

    def threads(self, count: int) -> dict[str, Any]:
        """Of the products from now on."""
        torch.set_num_threads(count)
        return {}

    def realtime(self, on: bool) -> dict[str, Any]:
        """Whether all threads go before every other program's (sched(7)); needs the right to."""
        policy, priority = (os.SCHED_FIFO, 1) if on else (os.SCHED_OTHER, 0)
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))
        return {}

    def pages(self) -> dict[str, Any]:
        """What lies on huge pages, in words, and the process's private bytes."""
        return {"pages": self._backbone.pages, "private": private_bytes()}

    def products(self, rows: int) -> dict[str, Any]:
        """Bytes of weights per second of processor time, over all matrices, the best of some."""
        width = {linear.in_features for linear in self._linears}
        inputs = {n: torch.ones(rows, n, dtype=self._backbone.dtype) for n in width}
        size = self._backbone.dtype.itemsize
        read = size * sum(each.in_features * each.out_features for each in self._linears)
        return {"bytes_per_second": max(read / self._lap(inputs) for _ in range(_REPEATS))}

    def _lap(self, inputs: dict[int, torch.Tensor]) -> float:
        begin = time.process_time()
        for linear in self._linears:
            linear(inputs[linear.in_features])
        return time.process_time() - begin


def keep_pages_small() -> None:
    """No huge pages for this process. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_THP_DISABLE, *map(ctypes.c_ulong, (1, 0, 0, 0))):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    if sys.argv[4] == "small":
        keep_pages_small()
    serve(BusyWorker(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])).handle)
