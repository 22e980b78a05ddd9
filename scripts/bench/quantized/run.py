"""What ``--quantize`` costs a trained model: perplexity, likeliest tokens, time and memory.

Text that the model has not written and its own greedy replies are read again by the model kept in
several ways, and compared with float32; then one thing is rounded at a time, to show where a loss
comes from. For families whose rows and logits are as they are (Llama, Mistral, Qwen).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import torch
from transformers import AutoTokenizer

from scripts.bench.quantized.ends import Ends
from scripts.bench.quantized.parts import PARTS
from scripts.bench.quantized.score import Score, score, scored
from scripts.bench.quantized.shuffled import shuffled
from scripts.bench.quantized.speed import speed_table
from scripts.bench.quantized.texts import english, prompts
from scripts.bench.quantized.worker import BFLOAT16, FLOAT32, WAYS
from scripts.bench.report import heading, table
from scripts.bench.workers import Worker

_LENGTH = 512
_TABLES = ("ways", "parts", "speed")
TEXTS = ("English", "replies")
_HEAD = ["of bfloat16's", "KL, nats", "same likeliest"]


class Study:
    """The texts, and how well a model reads them."""

    def __init__(self, path: Path, folder: Path, options: argparse.Namespace) -> None:
        tokenizer = AutoTokenizer.from_pretrained(path)
        self.ends = Ends(path)
        self.english = english(tokenizer, -(-options.tokens // _LENGTH), _LENGTH)
        self._file = str(folder / "states.pt")
        self._prompts, self._tokens = prompts(tokenizer), options.reply_tokens
        self.replies: list[list[int]] = []

    def prepare(self, exact: Worker) -> None:
        """Take the replies of the exact model, and its hidden states as the truth."""
        made = exact.ask(op="greedy", prompts=self._prompts, tokens=self._tokens)["replies"]
        self.replies = [p + reply for p, reply in zip(self._prompts, made, strict=True)]
        self._texts = {
            "English": (self.english, scored(self.english, [1] * len(self.english))),
            "replies": (self.replies, scored(self.replies, [len(p) for p in self._prompts])),
        }
        self._exact = {name: self._states(exact, name, op="states") for name in self._texts}

    def exact(self, name: str) -> Score:
        """How the exact model reads the text of this name."""
        return score(self.ends, self._texts[name][1], self._exact[name], self._exact[name])

    def read(self, worker: Worker, name: str, **request: object) -> Score:
        """How this worker reads the text of this name; ``request``: ``op`` and what it takes."""
        hidden = self._states(worker, name, **request)
        return score(self.ends, self._texts[name][1], hidden, self._exact[name])

    def _states(self, worker: Worker, name: str, **request: object) -> torch.Tensor:
        worker.ask(sequences=self._texts[name][0], file=self._file, **request)
        found: torch.Tensor = torch.load(self._file, weights_only=True)
        return found


def main() -> None:
    options = _options()
    path = Path(options.model)
    torch.set_num_threads(1)
    title = f"int8 and int4, {options.title or path.name}"
    print(heading(title, "float32 and bfloat16"), flush=True)
    with ExitStack() as stack, torch.inference_mode():
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.shuffled:
            path = shuffled(path, folder / path.name)
        study = Study(path, folder, options)
        if {"ways", "parts"} & set(options.only):
            _print_losses(study, path, options.only)
        if "speed" in options.only:
            print(speed_table(path, options.rounds))


def _print_losses(study: Study, path: Path, only: Sequence[str]) -> None:
    with ExitStack() as stack:
        exact = _worker(stack, path, FLOAT32)
        study.prepare(exact)
        if "ways" in only:
            _print_ways(study, path)
        if "parts" in only:
            _print_parts(study, exact)


def _print_ways(study: Study, path: Path) -> None:
    found = {FLOAT32: [study.exact(name) for name in TEXTS]}
    for way in WAYS:
        if way != FLOAT32:
            with ExitStack() as stack:
                worker = _worker(stack, path, way)
                found[way] = [study.read(worker, name, op="states") for name in TEXTS]
    base = [one.perplexity for one in found[BFLOAT16]]
    rows = [
        [way, *(cell for one, of in zip(scores, base, strict=True) for cell in _cells(one, of))]
        for way, scores in found.items()
    ]
    counts = [sum(map(len, study.english)), sum(map(len, study.replies))]
    print(f"English of {counts[0]:,} tokens; chats of {counts[1]:,}, of which replies count.\n")
    print(table(["kept as", "English", *_HEAD, "replies", *_HEAD], rows), flush=True)


def _print_parts(study: Study, exact: Worker) -> None:
    base = study.exact("English").perplexity
    rows = []
    for index, part in enumerate(PARTS):
        one = study.read(exact, "English", op="part", index=index)
        rows.append([part.name, *_cells(one, base)])
        print(" | ".join(rows[-1]), flush=True)
    print("\nOne part at a time, in float32:\n")
    print(table(["rounded", "perplexity", "of float32's", *_HEAD[1:]], rows), flush=True)


def _cells(one: Score, base: float) -> list[str]:
    return [
        f"{one.perplexity:.3f}",
        f"{one.perplexity / base:.4f} x",
        f"{one.divergence:.5f}",
        f"{100 * one.same:.1f}%",
    ]


def _worker(stack: ExitStack, path: Path, way: str) -> Worker:
    worker = Worker("scripts.bench.quantized.worker", str(path), way)
    stack.callback(worker.close)
    return worker


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, metavar="FOLDER", help="a trained checkpoint")
    parser.add_argument(
        "--shuffled",
        action="store_true",
        help="the channels in another order: the same function, but weights that came from blocks "
        "of few bits no longer lie in those, where int4 would find them again",
    )
    parser.add_argument("--title", help="the model's name in the heading")
    parser.add_argument("--tokens", type=int, default=3072, help="of English")
    parser.add_argument("--reply-tokens", type=int, default=96, help="of each of 16 replies")
    parser.add_argument("--rounds", type=int, default=15, help="of timings")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=_TABLES,
        default=_TABLES,
        help="ways: what each way of keeping the model loses; parts: one thing rounded at a time; "
        "speed: times in turn, and memory",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
