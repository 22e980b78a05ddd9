"""llama.cpp as a worker.

``python -m scripts.bench.peers.llama FILE THREADS CONTEXT SESSIONS [PAGES]``

Runs in an environment of its own with llama-cpp-python. PAGES: ``mapped``, the file as it lies on
disk, which is llama.cpp's own way; ``small``, read into memory; ``huge``, that on huge pages, as
the server keeps its weights. Requests: ``hidden``, ``step``, ``prefill`` as
scripts.bench.step.runner has them, at the one CONTEXT, and ``facts``.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import llama_cpp
import numpy as np

from scripts.bench.inputs import embedding_rows
from scripts.bench.peers.huge_pages import collapse_anonymous
from scripts.bench.timing import Lap, timed
from scripts.bench.workers import Operations, serve

_ROWS_AT_ONCE = 512
_LOAD_MODES = (llama_cpp.LLAMA_LOAD_MODE_NONE, llama_cpp.LLAMA_LOAD_MODE_MMAP)
# Positions of a stream come in multiples of this.
_PADDING = 256


class LlamaWorker(Operations):
    """Answers the requests with one context, whose sequences have a cache each."""

    def __init__(
        self, path: str, threads: int, context: int, sessions: int, pages: str = "mapped"
    ) -> None:
        self._context = context
        _be_quiet()
        llama_cpp.llama_backend_init()
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = 0
        parameters.load_mode = _LOAD_MODES[pages == "mapped"]
        self._model = llama_cpp.llama_model_load_from_file(path.encode(), parameters)
        self._width = llama_cpp.llama_model_n_embd(self._model)
        self._llama = llama_cpp.llama_init_from_model(
            self._model, _context_parameters(threads, context, sessions)
        )
        self._memory = llama_cpp.llama_get_memory(self._llama)
        self._batch = llama_cpp.llama_batch_init(_ROWS_AT_ONCE, self._width, 1)
        self._filled = 0
        if pages == "huge":
            collapse_anonymous()

    def facts(self) -> dict[str, Any]:
        """The version and the processor features that it was built for."""
        features = llama_cpp.llama_print_system_info().decode()
        return {"version": llama_cpp.__version__, "features": features.strip(" |")}

    def hidden(self, rows: int, steps: int) -> dict[str, Any]:
        """Hidden states of the last ``steps`` of ``rows`` positions, each in a step of its own."""
        inputs = embedding_rows(rows, self._width, seed=1)
        self._clear()
        self._prefill(inputs[: rows - steps])
        out = []
        for position in range(rows - steps, rows):
            self._decode(inputs[position : position + 1], [position], [0])
            found = llama_cpp.llama_get_embeddings_ith(self._llama, 0)
            out.append(np.ctypeslib.as_array(found, (self._width,)).tolist())
        self._clear()
        return {"hidden": out}

    def step(self, context: int, sessions: int, steps: int) -> dict[str, Any]:
        """Milliseconds of decode steps of ``sessions`` sequences."""
        assert context == self._context
        self._fill(sessions)
        inputs = np.repeat(embedding_rows(1, self._width, seed=2), sessions, axis=0)
        numbers = list(range(sessions))
        laps = [
            timed(lambda at=at: self._decode(inputs, [context + at] * sessions, numbers))
            for at in range(steps)
        ]
        for number in numbers:
            llama_cpp.llama_memory_seq_rm(self._memory, number, context, -1)
        return Lap.columns(laps)

    def prefill(self, rows: int, repeats: int) -> dict[str, Any]:
        """Milliseconds of a prefill of ``rows`` positions in one pass."""
        inputs = embedding_rows(rows, self._width, seed=3)
        laps = []
        for _ in range(repeats):
            self._clear()
            laps.append(timed(lambda: self._prefill(inputs)))
        self._clear()
        return Lap.columns(laps)

    def _fill(self, sessions: int) -> None:
        """Have ``sessions`` sequences of the context's length: one is computed, others copied."""
        if not self._filled:
            self._prefill(embedding_rows(self._context, self._width, seed=1))
            self._filled = 1
        for number in range(self._filled, sessions):
            llama_cpp.llama_memory_seq_cp(self._memory, 0, number, -1, -1)
        self._filled = max(self._filled, sessions)

    def _clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)
        self._filled = 0

    def _prefill(self, inputs: np.ndarray) -> None:
        for begin in range(0, len(inputs), _ROWS_AT_ONCE):
            part = inputs[begin : begin + _ROWS_AT_ONCE]
            positions = range(begin, begin + len(part))
            self._decode(part, list(positions), [0] * len(part), last_only=True)

    def _decode(
        self,
        inputs: np.ndarray,
        positions: list[int],
        sequences: list[int],
        last_only: bool = False,
    ) -> None:
        """One pass over rows [n, H], each of a sequence at a position."""
        batch, count = self._batch, len(inputs)
        batch.n_tokens = count
        ctypes.memmove(batch.embd, np.ascontiguousarray(inputs).ctypes.data, inputs.nbytes)
        for row in range(count):
            batch.pos[row] = positions[row]
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = sequences[row]
            batch.logits[row] = not last_only or row == count - 1
        if llama_cpp.llama_decode(self._llama, batch):
            raise RuntimeError("llama_decode failed")
        llama_cpp.llama_synchronize(self._llama)


def _context_parameters(threads: int, context: int, sessions: int) -> Any:
    parameters = llama_cpp.llama_context_default_params()
    per_sequence = (context // _PADDING + 1) * _PADDING
    parameters.n_ctx = per_sequence * sessions
    parameters.n_batch = parameters.n_ubatch = _ROWS_AT_ONCE
    parameters.n_seq_max = sessions
    parameters.n_threads = parameters.n_threads_batch = threads
    parameters.embeddings = True
    parameters.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_NONE
    # Each sequence has its own cache; a shared one would be attended to as a whole.
    parameters.kv_unified = False
    return parameters


@llama_cpp.llama_log_callback
def _ignore(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Messages would mix with the answers."""


def _be_quiet() -> None:
    if "LLAMA_LOG" not in os.environ:
        llama_cpp.llama_log_set(_ignore, ctypes.c_void_p())


if __name__ == "__main__":
    serve(LlamaWorker(sys.argv[1], *map(int, sys.argv[2:5]), *sys.argv[5:]).handle)
