"""llama.cpp behind what it kept, as a worker.

``python -m scripts.bench.peers.llama_prefixes FILE THREADS CONTEXT``

Runs in an environment of its own with llama-cpp-python. Its ``Llama`` goes on behind the longest
prefix that its one sequence holds (prefix match), or behind a state that it saved before.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import llama_cpp

from scripts.bench.workers import Operations, serve


class LlamaPrefixWorker(Operations):
    """Answers ``keep`` and ``first`` requests with one model."""

    def __init__(self, path: str, threads: int, context: int) -> None:
        self._llama = llama_cpp.Llama(
            path,
            n_ctx=context,
            n_batch=512,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
        self._state = self._llama.save_state()

    def facts(self) -> dict[str, Any]:
        """The version and the processor features that it was built for."""
        features = llama_cpp.llama_print_system_info().decode()
        return {"version": llama_cpp.__version__, "features": features.strip(" |")}

    def keep(self, ids: list[int]) -> dict[str, Any]:
        """Compute ``ids``, which :meth:`first` goes on from."""
        self._empty()
        self._llama.eval(ids)
        self._state = self._llama.save_state()
        return {"bytes": self._state.llama_state_size}

    def first(self, ids: list[int], tokens: int, way: str) -> dict[str, Any]:
        """Greedy ``tokens`` after ``ids``; ``ms`` to the first of them.

        ``way``: match, with the kept tokens in its sequence before the clock starts; state, which
        is loaded while it runs; none, from an empty sequence.
        """
        self._empty()
        if way == "match":
            self._llama.load_state(self._state)
        began = time.perf_counter()
        if way == "state":
            self._llama.load_state(self._state)
        found: list[int] = []
        ms = 0.0
        for token in self._llama.generate(ids, temp=0.0, repeat_penalty=1.0):
            ms = ms or 1e3 * (time.perf_counter() - began)
            found.append(int(token))
            if len(found) == tokens:
                break
        return {"ids": found, "ms": ms}

    def _empty(self) -> None:
        self._llama.reset()
        self._llama._ctx.kv_cache_clear()


if __name__ == "__main__":
    serve(LlamaPrefixWorker(sys.argv[1], *map(int, sys.argv[2:4])).handle)
