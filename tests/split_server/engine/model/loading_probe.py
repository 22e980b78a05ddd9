"""Loads a checkpoint in a process of its own and prints what memory that took, as JSON."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.memory.allocator import give_back_free_blocks, give_back_large_blocks


def private_bytes() -> int:
    """Memory that no file backs: RssAnon of proc_pid_status(5)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["RssAnon"].split()[0]) << 10


class Peak:
    """The most private bytes while it watches."""

    def __init__(self) -> None:
        self.bytes = private_bytes()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.bytes = max(self.bytes, private_bytes())


def main(small: str, path: str, options: str) -> None:
    """``small``: a layer of the same widths, whose loading pays for what torch and transformers
    set up, and for the kernels that oneDNN compiles and keeps for each shape.
    """
    torch.set_num_threads(1)
    give_back_large_blocks()
    chosen = json.loads(options)
    load_backbone(read_checkpoint(Path(small), "small"), "auto", "cpu", **chosen)
    base = private_bytes()
    with Peak() as peak:
        backbone = load_backbone(read_checkpoint(Path(path), "large"), "auto", "cpu", **chosen)
        # As the server does.
        give_back_free_blocks()
    figures = {"base": base, "peak": peak.bytes, "after": private_bytes()}
    print(json.dumps(figures | {"linears": backbone.linears}))


if __name__ == "__main__":
    main(*sys.argv[1:])
