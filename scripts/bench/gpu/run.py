"""Passes on a CUDA device: decoding sessions, prefills, and keys and values that come back.

No sockets: what one pass of the model's thread takes. A model of the shape with random weights is
made on the GPU. Beside ours run Hugging Face's own loop (the same layers with its attention and
its ``DynamicCache``, one row for each of n sequences of equal length, as ``generate`` runs them)
and our passes with the layers as Hugging Face's modules. States are compared before anything is
timed. A session of which half is hidden decodes beside one that sees all.

    python -m scripts.bench.gpu.run --shape m --shape 7b
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModel, DynamicCache

from scripts.bench.report import heading, spread, table
from scripts.bench.shapes import SHAPES, shape_config
from split_server.engine.gpu.forward import GpuForward
from split_server.engine.model.info import ModelInfo
from split_server.engine.model.loader import Backbone
from split_server.engine.model.packed import PACKED_ATTENTION, Slice
from split_server.engine.model.plan.choice import PLAN, arrange_layers
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_server.kv.copying import adopt, copied
from split_server.kv.run import Run, Span, pieces

_GPU = torch.device("cuda")
_CONTEXT, _LONG = 1024, 8192
_LEAST_COSINE = 0.998


@dataclass(frozen=True)
class Sides:
    """The same weights behind our passes, those with layers as modules, and Hugging Face's."""

    ours: ModelRunner
    modules: ModelRunner
    theirs: Any
    info: ModelInfo
    weights: int

    def rows(self, count: int) -> torch.Tensor:
        """[count, H] of the size that embeddings have."""
        return torch.randn(count, self.info.hidden_size, device=_GPU, dtype=torch.bfloat16)


def main() -> None:
    options = _options()
    print(heading("Passes on a GPU", "bfloat16"))
    print(torch.cuda.get_device_name(_GPU), f"CUDA {torch.version.cuda}\n")
    bandwidth = _bandwidth()
    print(f"A copy within its memory moves {bandwidth / 1e12:.2f} TB/s.\n")
    for shape in options.shape or ["m", "7b"]:
        sides = _sides(shape)
        _check(sides)
        print(f"Shape {shape}, {sides.weights / 1e9:.2f} GB of weights:\n")
        head = [
            "pass",
            "ours",
            "modules",
            "Hugging Face",
            "modules / ours",
            "HF / ours",
            "of reading",
        ]
        rows = [_decode(sides, count, options.rounds, bandwidth) for count in (1, 4, 16, 64)]
        rows += [_prefill(sides, count, options.rounds) for count in (128, 512, 2048)]
        print(table(head, rows))
        print(table(["1,024 positions", "time", "of their prefill"], _reuse(sides, options.rounds)))
        print(_hidden(sides, options.rounds))
        del sides
        torch.cuda.empty_cache()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", action="append", choices=SHAPES)
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


def _sides(shape: str) -> Sides:
    sizes = SHAPES[shape]
    # A model writes its attention into the configuration that it is made from.
    configs = [shape_config(shape) for _ in range(3)]
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with _GPU:
        planned, modules = (
            AutoModel.from_config(config, attn_implementation=PACKED_ATTENTION)
            for config in configs[:2]
        )
        theirs = AutoModel.from_config(configs[2], attn_implementation="sdpa")
    torch.set_default_dtype(torch.float32)
    for model in (planned, modules, theirs):
        model.set_input_embeddings(torch.nn.Identity())
        model.eval().requires_grad_(requires_grad=False)
    for model in (modules, theirs):
        for mine, other in zip(planned.parameters(), model.parameters(), strict=True):
            other.data = mine.data
    weights = sum(parameter.nbytes for parameter in planned.parameters())
    layers = arrange_layers(planned, torch.bfloat16, "auto").kind
    if layers != PLAN:
        raise SystemExit("no plan for the layers")
    info = ModelInfo(
        name=shape,
        family="qwen2",
        hidden_size=sizes["hidden_size"],
        vocab_size=sizes["vocab_size"],
        num_layers=sizes["num_hidden_layers"],
        num_heads=sizes["num_attention_heads"],
        max_context=sizes["max_position_embeddings"],
        dtype="bf16",
        eos_token_ids=(),
        kv_bytes_per_position=0,
    )
    runners = []
    for module in (planned, modules):
        backbone = Backbone(module, info, torch.bfloat16, _GPU)
        runners.append(ModelRunner(backbone, forward=GpuForward(backbone)))
        runners[-1].warm_up()
    return Sides(*runners, theirs, info, weights)


def _check(sides: Sides) -> None:
    """The states of all sides point the same way."""
    prompt, more = sides.rows(700), sides.rows(5)
    caches = [KVCache(), KVCache()]
    runners = (sides.ours, sides.modules)
    states = [r.run([Slice(c, 0, prompt)])[0] for r, c in zip(runners, caches, strict=True)]
    whole = sides.theirs(inputs_embeds=torch.cat([prompt, more])[None]).last_hidden_state[0]
    for runner, cache, first in zip(runners, caches, states, strict=True):
        later = [runner.run([Slice(cache, 700 + at, more[at : at + 1])])[0] for at in range(5)]
        got = torch.cat([first, *later]).float()
        cosine = torch.nn.functional.cosine_similarity(got, whole.float(), dim=-1).min().item()
        if cosine < _LEAST_COSINE:
            raise SystemExit(f"states differ: cosine {cosine:.5f}")


def _decode(sides: Sides, count: int, rounds: int, bandwidth: float) -> list[str]:
    """One row for each of ``count`` sessions that hold a context."""
    row, prompt = sides.rows(1), sides.rows(_CONTEXT)
    caches = [KVCache() for _ in range(count)]
    for cache in caches:
        sides.ours.run([Slice(cache, 0, prompt)])
    slices = [Slice(cache, _CONTEXT, row) for cache in caches]
    theirs = DynamicCache()
    batch = prompt.expand(count, -1, -1)
    for first in range(0, _CONTEXT, 256):
        part = batch[:, first : first + 256].contiguous()
        sides.theirs(inputs_embeds=part, past_key_values=theirs, use_cache=True)
    rows = row.expand(count, -1)[:, None].contiguous()

    def step() -> None:
        sides.theirs(inputs_embeds=rows, past_key_values=theirs, use_cache=True)
        theirs.crop(-1)

    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in caches[0].layers)
    times = _interleaved(
        [lambda: sides.ours.run(slices), lambda: sides.modules.run(slices), step], rounds
    )
    reading = (sides.weights + count * held) / bandwidth * 1e3
    share = f"{reading:.2f} ms, {_middle(times[0]) / reading:.1f}x"
    return [f"decode, {count} sessions", *_compared(times), share]


def _prefill(sides: Sides, count: int, rounds: int) -> list[str]:
    rows = sides.rows(count)

    def ours(runner: ModelRunner) -> Callable[[], object]:
        return lambda: runner.run([Slice(KVCache(), 0, rows)])

    def whole() -> None:
        cache = DynamicCache()
        sides.theirs(inputs_embeds=rows[None], past_key_values=cache, use_cache=True)

    times = _interleaved([ours(sides.ours), ours(sides.modules), whole], rounds)
    return [f"prefill of {count:,}", *_compared(times), ""]


def _reuse(sides: Sides, rounds: int) -> list[list[str]]:
    """Positions to the host and back, beside computing them."""
    prompt, cache = sides.rows(_CONTEXT), KVCache()
    sides.ours.run([Slice(cache, 0, prompt)])
    runs: list[Run] = []

    def keep() -> None:
        runs.clear()
        for start, end in pieces(0, _CONTEXT):
            layers, done, _ = copied(cache, start, end)
            parent = runs[-1] if runs else None
            runs.append(Run("", start, end, b"", {}, layers, parent, copied=done))

    def take_in() -> None:
        spans = [Span(run, run.start, run.end) for run in runs]
        adopt(KVCache(), 0, spans, _CONTEXT, _GPU)

    keep()
    whole = lambda: sides.ours.run([Slice(KVCache(), 0, prompt)])  # noqa: E731
    kept, taken, computed = _interleaved([keep, take_in, whole], rounds)
    base = _middle(computed)
    return [
        [name, spread(times, "ms"), f"{_middle(times) / base:.1%}"]
        for name, times in (("kept", kept), ("taken in", taken), ("computed", computed))
    ]


def _hidden(sides: Sides, rounds: int) -> str:
    """A decoded token of a long session, with all of its rows seen and with half of them hidden."""
    prompt, row = sides.rows(_LONG), sides.rows(1)
    caches = [KVCache() for _ in range(2)]
    for cache in caches:
        for start in range(0, _LONG, 2048):
            sides.ours.run([Slice(cache, start, prompt[start : start + 2048])])
    caches[1].hide(((4, 4 + _LONG // 2),))
    slices = [Slice(cache, _LONG, row) for cache in caches]
    whole, half = _interleaved(
        [lambda: sides.ours.run(slices[:1]), lambda: sides.ours.run(slices[1:])], rounds
    )
    share = _middle(half) / _middle(whole)
    return f"Decode at {_LONG:,} positions {spread(whole, 'ms')}, half hidden {share:.2f}x\n"


def _compared(times: Sequence[Sequence[float]]) -> list[str]:
    ours, modules, theirs = map(_middle, times)
    return [*(spread(t, "ms") for t in times), f"{modules / ours:.2f}", f"{theirs / ours:.2f}"]


@torch.inference_mode()
def _interleaved(works: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Milliseconds of each, in turn; the first two rounds do not count."""
    times: list[list[float]] = [[] for _ in works]
    for done in range(rounds + 2):
        for work, own in zip(works, times, strict=True):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            work()
            torch.cuda.synchronize()
            if done >= 2:
                own.append(1e3 * (time.perf_counter() - begun))
    return times


def _middle(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 2]


def _bandwidth() -> float:
    """Bytes a second, read and written."""
    source = torch.empty(4 << 30, dtype=torch.uint8, device=_GPU)
    target = torch.empty_like(source)
    [times] = _interleaved([lambda: target.copy_(source)], 10)
    return 2 * source.nbytes / (_middle(times) / 1e3)


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    main()
