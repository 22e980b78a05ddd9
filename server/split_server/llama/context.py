"""A model and its context in llama.cpp: made, asked for passes, cut.

Whatever could reach an assertion of the library, which ends the process, is checked here: that a
pass has rows and no more than its buffers, that sequences and positions are in range, and that
positions go on where the context stands.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from split_server.errors import EngineUnusable
from split_server.llama.library import Library

Floats = npt.NDArray[np.float32]
# enum ggml_type.
CELL_TYPES = {"f32": 0, "f16": 1, "bf16": 30}
_NO_FLASH, _NO_POOLING = 0, 0
_LOAD_PRIVATE, _LOAD_MAPPED = 0, 1
_NO_CELLS = 1


class PassFailed(RuntimeError):
    """llama.cpp computed nothing; ``code``: what it returned."""

    def __init__(self, code: int, complaint: str) -> None:
        super().__init__(f"llama.cpp gave up a pass ({code}): {complaint}")
        self.code = code

    @property
    def lacks_memory(self) -> bool:
        """Whether cells or buffers were not there."""
        return self.code in (_NO_CELLS, -2)

    @property
    def begun(self) -> bool:
        """Whether rows may have been put into cells, and taken out again."""
        return self.code not in (_NO_CELLS, -1)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """``cells``: of all sequences; ``rows``: of a pass at most; ``kind``: of keys and values;
    ``mapped``: weights stay in the file; ``reordered``: matrices may be copied into orders that
    suit the processor; ``gpu_layers``: on a GPU, -1: all.
    """

    cells: int
    sequences: int
    rows: int
    threads: int
    kind: str = "f16"
    mapped: bool = False
    reordered: bool = True
    gpu_layers: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows of one sequence, of which the first is at ``start``."""

    sequence: int
    start: int
    rows: Floats

    @property
    def end(self) -> int:
        """The position behind the last row."""
        return self.start + len(self.rows)


class Context:
    """One thread at a time uses it. ``watch``: an eval callback of the library's, or None.

    Raises EngineUnusable where the library takes neither the file nor the options.
    """

    def __init__(
        self, library: Library, path: Path, options: ContextOptions, watch: Any = None
    ) -> None:
        self._library, self._functions, self.options = library, library.functions, options
        self._watch = watch
        self._model: Any = None
        self._context: Any = None
        try:
            self._open(path)
        except BaseException:
            self.close()
            raise
        self._memory = self._functions.llama_get_memory(self._context)
        self.width = int(self._functions.llama_model_n_embd(self._model))
        self._ends = [0] * options.sequences
        self._batch = _Batch(self._functions, options.rows, self.width)

    def __del__(self) -> None:
        """Give the memory back, of which Python knows nothing."""
        self.close()

    def _open(self, path: Path) -> None:
        functions, options = self._functions, self.options
        model = functions.llama_model_default_params()
        model.n_gpu_layers = options.gpu_layers
        model.load_mode = _LOAD_MAPPED if options.mapped else _LOAD_PRIVATE
        # Matrices in another order are copies, which a mapped file is to spare.
        model.use_extra_bufts = options.reordered and not options.mapped
        self._model = functions.llama_model_load_from_file(str(path).encode(), model)
        if not self._model:
            raise self._unusable(path)
        self._context = functions.llama_init_from_model(self._model, self._parameters())
        if not self._context:
            raise self._unusable(path)
        if int(functions.llama_n_ctx(self._context)) < options.cells:
            raise self._unusable(path)

    def _parameters(self) -> Any:
        options = self.options
        context = self._functions.llama_context_default_params()
        context.n_ctx, context.n_seq_max = options.cells, options.sequences
        context.n_batch = context.n_ubatch = options.rows
        context.n_outputs_max = context.n_outputs_max_per_seq = options.rows
        context.n_threads = context.n_threads_batch = options.threads
        context.embeddings, context.pooling_type = True, _NO_POOLING
        context.type_k = context.type_v = CELL_TYPES[options.kind]
        # Sessions of any length share the cells, and one pass takes rows of all of them.
        context.kv_unified = True
        # The fused attention shows no weights.
        context.flash_attn_type = _NO_FLASH
        if self._watch is not None:
            context.cb_eval = self._watch
        return context

    def _unusable(self, path: Path) -> EngineUnusable:
        return EngineUnusable(f"llama.cpp does not take {path.name}: {self._library.complaint()}")

    def run(self, parts: Sequence[Part]) -> Floats:
        """The final-norm states [n, H] of all rows, in the order of ``parts``, which are of
        different sequences and go on where those end. Raises PassFailed, and then each sequence
        holds what it held.
        """
        self.check(parts)
        functions, batch = self._functions, self._batch
        count = batch.fill(parts)
        code = functions.llama_decode(self._context, batch.native)
        if code:
            for part in parts:
                functions.llama_memory_seq_rm(self._memory, part.sequence, part.start, -1)
            raise PassFailed(code, self._library.complaint())
        states = np.empty((count, self.width), np.float32)
        found = functions.llama_get_embeddings(self._context)
        ctypes.memmove(states.ctypes.data, found, states.nbytes)
        for part in parts:
            self._ends[part.sequence] = part.end
        return states

    def remove(self, sequence: int, start: int) -> None:
        """Have ``sequence`` hold its first ``start`` positions. Raises ValueError, PassFailed."""
        if not 0 <= sequence < self.options.sequences or not 0 <= start <= self._ends[sequence]:
            raise ValueError(f"sequence {sequence} has no position {start}")
        if not self._functions.llama_memory_seq_rm(self._memory, sequence, start, -1):
            raise PassFailed(0, "a sequence cannot be cut")
        self._ends[sequence] = start

    def clear(self) -> None:
        """Have all sequences hold nothing."""
        self._functions.llama_memory_clear(self._memory, False)
        self._ends = [0] * self.options.sequences

    def close(self) -> None:
        """Free everything; the context may not be used any more."""
        if self._context:
            self._functions.llama_free(self._context)
        if self._model:
            self._functions.llama_model_free(self._model)
        self._context = self._model = None

    def check(self, parts: Sequence[Part]) -> None:
        """Raise ValueError for what :meth:`run` would not compute, and the library not survive."""
        rows = sum(len(part.rows) for part in parts)
        if not self._context or not 0 < rows <= self.options.rows:
            raise ValueError(f"{rows} rows are none or more than a pass takes")
        if len({part.sequence for part in parts}) != len(parts):
            raise ValueError("a sequence has two parts of a pass")
        for part in parts:
            if not 0 <= part.sequence < self.options.sequences:
                raise ValueError(f"there is no sequence {part.sequence}")
            if not len(part.rows) or part.rows.shape[1:] != (self.width,):
                raise ValueError(f"rows of the shape {part.rows.shape}")
            if part.start != self._ends[part.sequence] or part.end > self.options.cells:
                raise ValueError(f"position {part.start} is not where the sequence ends")


class _Batch:
    """Arrays of one pass, which the library reads."""

    def __init__(self, functions: Any, rows: int, width: int) -> None:
        self._rows = np.zeros((rows, width), np.float32)
        self._positions = np.zeros(rows, np.int32)
        self._sequences = np.zeros(rows, np.int32)
        self._counts = np.ones(rows, np.int32)
        self._wanted = np.ones(rows, np.int8)
        step = self._sequences.itemsize
        addresses = self._sequences.ctypes.data + step * np.arange(rows, dtype=np.uintp)
        self._addresses = np.ascontiguousarray(addresses)
        self.native = functions.llama_batch()
        self._point(functions)

    def _point(self, functions: Any) -> None:
        arrays: dict[str, npt.NDArray[Any]] = {
            "embd": self._rows,
            "pos": self._positions,
            "n_seq_id": self._counts,
            "seq_id": self._addresses,
            "logits": self._wanted,
        }
        kinds = dict(functions.llama_batch._fields_)
        for name, array in arrays.items():
            pointer = ctypes.cast(ctypes.c_void_p(array.ctypes.data), kinds[name])
            setattr(self.native, name, pointer)

    def fill(self, parts: Sequence[Part]) -> int:
        """Take in the rows of ``parts``; how many."""
        at = 0
        for part in parts:
            end = at + len(part.rows)
            self._rows[at:end] = part.rows
            self._positions[at:end] = np.arange(part.start, part.end)
            self._sequences[at:end] = part.sequence
            at = end
        self.native.n_tokens = at
        return at
