"""How far states in bfloat16 and float16 are from float32, with reuse and without.

Within this process, with the server's model, cache and pool. For each prompt: all rows in float32;
cold; behind a prefix that another session left, which had come there in steps of its own; and cold
in other slices, the control. Compared are the rows behind the prefix that was taken in: the norm of
the error of their final states. Float32 is checked against Hugging Face first.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers

from scripts.bench.inputs import require_alike
from scripts.bench.report import finish, median, table
from scripts.bench.reuse.pages import Page, parsed, parser, rounds
from scripts.bench.reuse.sources import Source
from scripts.bench.shapes import served_checkpoint

_ALIKE = 0.99999
_MEDIAN, _TAIL = 1.01, 1.05
_QUICK = {"dtype": "bfloat16", "prompts": 12, "longest": 160}
_HEAD = ("error over that of a cold prefill", "median", "p99", "largest", "prompts")
# Decoded rows of the session that left a prefix behind, at most.
_DECODED = 24


@dataclass(frozen=True, slots=True)
class Errors:
    """Norms of the error of the same rows, and how many of the prompt's were taken in."""

    cold: float
    reuse: float
    control: float
    held: int


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, "bfloat16")
        page = Page(f"Error against float32, shape {options.shape}", options.dtype)
        exact, rounded = (
            Source(path, dtype, options.threads) for dtype in ("float32", options.dtype)
        )
        stack.callback(exact.close)
        stack.callback(rounded.close)
        bench = Bench(exact, rounded, _table(path), options)
        bench.check(path)
        found = bench.errors()
    reuse = [one.reuse / one.cold for one in found]
    control = [one.control / one.cold for one in found]
    page.add(table(_HEAD, [_line("reuse", reuse), _line("control, other slices", control)]))
    page.add(
        f"Prompts of {options.shortest} to {options.longest} tokens; "
        f"{median([one.held for one in found]):.0f} of them were taken in (median)."
    )
    page.end(options.out)
    finish(_problems(reuse, control, strict=not options.quick))


class Bench:
    """``embeddings``: float32 [vocabulary, H]."""

    def __init__(
        self, exact: Source, rounded: Source, embeddings: torch.Tensor, options: argparse.Namespace
    ) -> None:
        self._exact, self._rounded, self._table = exact, rounded, embeddings
        self._options, self._random = options, np.random.default_rng(17)

    def check(self, path: Path) -> None:
        """States in float32 are Hugging Face's."""
        transformers.logging.set_verbosity_error()
        model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
        rows = self._rows(self._options.shortest)
        with torch.inference_mode():
            theirs = model.model(inputs_embeds=rows[None]).last_hidden_state[0]
        ours = self._exact.middle.states(rows)
        require_alike("float32", ours.tolist(), theirs.tolist(), _ALIKE)

    def errors(self) -> list[Errors]:
        """One prompt after the other."""
        options = self._options
        return [
            self._one(self._rows(int(self._random.integers(options.shortest, options.longest))))
            for _ in rounds(options.prompts, options.seconds, least=10)
        ]

    def _one(self, rows: torch.Tensor) -> Errors:
        prefix = int(self._random.integers(32, len(rows) - 8))
        self._left_behind(torch.cat([rows[:prefix], self._rows(8)]))
        later = self._rounded.session()
        held = self._rounded.taken_in(later, rows)
        if held != prefix - prefix % 16:
            raise SystemExit(f"{held} of {prefix} known positions were taken in")
        again = self._rounded.computed(later, rows[held:])
        right = self._exact.middle.states(rows)[held:]

        def error(states: torch.Tensor) -> float:
            return float(torch.linalg.vector_norm((states - right).double()))

        cold = self._rounded.middle.states(rows)[held:]
        return Errors(error(cold), error(again), error(self._sliced(rows)[held:]), held)

    def _left_behind(self, rows: torch.Tensor) -> None:
        """A session that came to ``rows`` by a prompt, decoded tokens and another turn."""
        session = self._rounded.session()
        first = int(self._random.integers(16, len(rows)))
        self._rounded.computed(session, rows[:first])
        decoded = min(len(rows), first + int(self._random.integers(0, _DECODED)))
        for at in range(first, decoded):
            self._rounded.computed(session, rows[at : at + 1])
        if decoded < len(rows):
            self._rounded.computed(session, rows[decoded:])
        self._rounded.keep(session)

    def _sliced(self, rows: torch.Tensor) -> torch.Tensor:
        """Cold, cut anywhere: what another load of the server would have done."""
        session = self._rounded.session()
        session.names = None
        count = int(self._random.integers(1, 4))
        cuts = sorted({int(cut) for cut in self._random.integers(1, len(rows), count)})
        bounds = [0, *cuts, len(rows)]
        parts = [rows[a:b] for a, b in itertools.pairwise(bounds)]
        return torch.cat([self._rounded.computed(session, part) for part in parts])

    def _rows(self, count: int) -> torch.Tensor:
        ids = self._random.integers(0, len(self._table) - 300, count)
        return self._table[torch.from_numpy(ids)]


def _table(path: Path) -> torch.Tensor:
    """The embeddings, of bfloat16 values, which every dtype but float16 holds exactly."""
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    weights: torch.Tensor = model.get_input_embeddings().weight.detach().clone()
    return weights


def _line(name: str, ratios: Sequence[float]) -> list[str]:
    cells = [f"{value:.4f}" for value in (median(ratios), _p99(ratios), max(ratios))]
    return [name, *cells, str(len(ratios))]


def _p99(ratios: Sequence[float]) -> float:
    return float(np.percentile(ratios, 99))


def _problems(reuse: Sequence[float], control: Sequence[float], *, strict: bool) -> list[str]:
    """``strict``: there are enough prompts for the bars."""
    if not strict:
        return []
    found = []
    if median(reuse) > _MEDIAN:
        found.append(f"median {median(reuse):.4f}; at most {_MEDIAN} is wanted")
    if _p99(reuse) > _TAIL * _p99(control):
        found.append(f"p99 {_p99(reuse):.4f}; at most {_TAIL} of {_p99(control):.4f} is wanted")
    return found


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=240, dtypes=("bfloat16", "float16"))
    made.add_argument("--prompts", type=int, default=200)
    made.add_argument("--shortest", type=int, default=64)
    made.add_argument("--longest", type=int, default=256)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
