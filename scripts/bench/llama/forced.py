"""The engine forced along llama.cpp's own greedy tokens: where would it choose another one?

``python -m scripts.bench.llama.forced FILE.gguf --kinds q8_0 q4_K``. FILE: float32 or half
precision; it is quantised by llama.cpp. llama.cpp replies to prompts with the whole file, token ids
in and logits out. Then each reply goes through the engine as a device sends it: rows of the
imported table in the dtype of the session, states back in it, and the head of that table. Where the
likeliest tokens differ, the margin in llama.cpp's logits is compared with how far both sides'
logits are apart. Exit status 1: a margin that is larger.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from scripts.bench.llama.files import quantized
from scripts.bench.report import finish, heading, table
from split_server.checkpoint.catalog import ends_of
from split_server.checkpoint.folder import Checkpoint, read_checkpoint
from split_server.checkpoint.gguf.folder import write_split_folder
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.slices import FileSource
from split_server.checkpoint.texts import TOKENIZER
from split_server.engine.model.convert import TORCH_DTYPES, to_wire
from split_server.engine.model.packed import Slice
from split_server.llama.library import open_library
from split_server.llama.model import LlamaModel, load_llama, planned
from split_server.memory.limit import Room
from split_wire.tensor import Tensor

_PROMPTS = (
    "The history of the railway began",
    "def fibonacci(n):\n",
    "Dear Sir or Madam,\n\nI am writing",
    "1. Wash the vegetables.\n2.",
    "Once upon a time, in a village by the sea,",
    "The three laws of thermodynamics are",
    "Q: What is the difference between a list and a tuple?\nA:",
    "La tour Eiffel est",
)
_ROOM = Room(4 << 30, "benchmark")


@dataclass
class Compared:
    """``margins`` of choices that differ; ``errors``: largest difference of a logit, by token."""

    tokens: int = 0
    margins: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)


def main() -> None:
    options = _options()
    torch.set_num_threads(options.threads)
    rows: list[list[object]] = []
    problems: list[str] = []
    for kind in options.kinds:
        found = _of_kind(quantized(options.file, kind), options)
        error, worst = float(np.quantile(found.errors, 0.5)), max(found.errors)
        margin = max(found.margins, default=0.0)
        rows.append([kind, found.tokens, len(found.margins), margin, error, worst])
        if margin >= worst:
            problems.append(f"{kind}: a choice differs by {margin:.3f}, logits by {worst:.3f}")
    print(heading(f"Forced along llama.cpp's tokens, {options.file.stem}", "as named"))
    head = ["file", "tokens", "other choices", "largest margin", "median error", "largest error"]
    print(table(head, [[f"{c:.3f}" if isinstance(c, float) else c for c in row] for row in rows]))
    finish(problems)


def _of_kind(file: Path, options: argparse.Namespace) -> Compared:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "split"
        with Source(file) as source:
            write_split_folder(source, made, "00" * 32, "auto")
        checkpoint = read_checkpoint(made, file.stem)
        tokenizer = Tokenizer.from_file(str(made / TOKENIZER))
        prompts = [tokenizer.encode(text).ids for text in _PROMPTS]
        share = -(-options.tokens // len(prompts))
        replies = list(_own_replies(file, prompts, share, options.threads))
        model = load_llama(
            checkpoint,
            planned(checkpoint, "auto", _ROOM),
            sessions=2,
            threads=options.threads,
            out_of_memory=MemoryError,  # type: ignore[arg-type]
        )
        compared = Compared()
        values = _table(checkpoint)
        for prompt, (ids, logits) in zip(prompts, replies, strict=True):
            _force(model, values, prompt, ids, logits, compared)
    return compared


def _own_replies(
    file: Path, prompts: list[list[int]], count: int, threads: int
) -> Iterator[tuple[list[int], np.ndarray[Any, Any]]]:
    """Greedy ids of the whole file and the logits before each, [count, vocabulary]."""
    functions = open_library().functions
    parameters = functions.llama_model_default_params()
    parameters.use_extra_bufts, parameters.n_gpu_layers = False, 0
    model = functions.llama_model_load_from_file(str(file).encode(), parameters)
    vocabulary = functions.llama_vocab_n_tokens(functions.llama_model_get_vocab(model))
    options = functions.llama_context_default_params()
    options.n_ctx = 1024
    options.n_threads = options.n_threads_batch = threads
    context = functions.llama_init_from_model(model, options)
    for prompt in prompts:
        functions.llama_memory_clear(functions.llama_get_memory(context), True)
        ids, logits, new = list[int](), [], prompt
        for _ in range(count):
            tokens = (ctypes.c_int32 * len(new))(*new)
            batch = functions.llama_batch_get_one(tokens, len(new))
            assert functions.llama_decode(context, batch) == 0
            found = functions.llama_get_logits_ith(context, -1)
            logits.append(np.ctypeslib.as_array(found, (vocabulary,)).copy())
            ids.append(int(logits[-1].argmax()))
            new = ids[-1:]
        yield ids, np.stack(logits)
    functions.llama_free(context)
    functions.llama_model_free(model)


def _table(checkpoint: Checkpoint) -> torch.Tensor:
    """Rows of the ends, which are tied, in float32."""
    ends = ends_of(checkpoint)
    assert ends.tied
    tensor = ends.embedding
    with FileSource.of(tensor).opened() as read:
        raw = bytearray(read(0, tensor.size))
    return torch.frombuffer(raw, dtype=TORCH_DTYPES[tensor.dtype]).view(tensor.shape).float()


def _force(
    model: LlamaModel,
    values: torch.Tensor,
    prompt: list[int],
    ids: list[int],
    wanted: np.ndarray[Any, Any],
    compared: Compared,
) -> None:
    """Each step a device's: the tokens that are known go in, the head's choice is compared."""
    cache, dtype = model.cells.new(), model.info.dtype
    new = prompt
    for place, own in enumerate(wanted):
        rows = Tensor.from_f32(values[torch.tensor(new)].numpy(), dtype)
        [hidden] = model.runner.run([Slice(cache, cache.length, model.runner.load(rows))])
        state = torch.from_numpy(to_wire(hidden[-1:], dtype).to_f32().copy())
        logits = (state @ values.T)[0].numpy()
        compared.tokens += 1
        compared.errors.append(float(np.abs(logits - own).max()))
        choice = int(logits.argmax())
        if choice != ids[place]:
            compared.margins.append(float(own[ids[place]] - own[choice]))
        new = ids[place : place + 1]
    cache.release()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE.gguf")
    parser.add_argument("--kinds", nargs="+", default=["q8_0", "q4_K"])
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
