"""Time to the first token behind a known prefix: ours, and what peers keep of a prompt.

Ours is a device that opens a session at a real split-server, asks for what an earlier session left
and samples from its own head. The peers run their model in one process, without a wire:
``generate`` with a copy of a ``DynamicCache``; KVBoost, its chunks and, as one chunk, the whole
prefix; llama.cpp, by prefix match and by a saved state. Each peer has its prefix computed before
the clock starts; tokens are compared with the model's before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.bench.report import median, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import SHAPES, random_checkpoint
from scripts.bench.workers import Worker
from scripts.listening import listening
from scripts.paths import ROOT

_CHECKED = 4
_CHUNK = 64
_OURS = "ours"
_HEAD = ("first token behind a known prefix", "time", "its time over ours", "tokens")
_QUICK = {"prompt": 256, "known": 192, "rounds": 3}


@dataclass
class Way:
    """One way to the first token. ``keep`` computes a prefix, ``first`` answers a prompt with so
    many tokens and the milliseconds to the first.
    """

    keep: Callable[[list[int]], object]
    first: Callable[[list[int], int], tuple[list[int], float]]
    times: list[float] = field(default_factory=list)
    right: str = "the model's"


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = random_checkpoint(options.shape, folder, options.dtype)
        page = Page(f"A known prefix and peers, shape {options.shape}", options.dtype)
        ways, facts = _ways(stack, path, folder, options)
        prompts = Prompts(SHAPES[options.shape]["vocab_size"], seed=5)
        _check(ways, path, prompts, options)
        for number in rounds(options.rounds, options.seconds, least=3):
            _round(ways, prompts.new(options.prompt), options.known, number)
    page.add(table(_HEAD, _rows(ways)))
    page.add(f"{options.known:,} of {options.prompt:,} tokens were known. " + " ".join(facts))
    page.end(options.out)


def _ways(
    stack: contextlib.ExitStack, path: Path, folder: Path, options: argparse.Namespace
) -> tuple[dict[str, Way], list[str]]:
    """Every way that this machine has, and a sentence about each peer that takes part or not."""
    ways = {_OURS: _ours(stack, path, folder, options)}
    stock = Worker("scripts.bench.peers.prefixes", str(path), options.dtype)
    stack.callback(stock.close)
    ways["generate, copied DynamicCache"] = _asked(stock, {}, reuse=True)
    facts = []
    if options.kvboost_python is None:
        facts.append("KVBoost takes part with --kvboost-python.")
    else:
        facts.append(_add_kvboost(stack, ways, path, options))
    if options.llama_python is None:
        facts.append("llama.cpp takes part with --llama-python.")
    else:
        facts.append(_add_llama(stack, ways, folder, options))
    return ways, facts


def _ours(
    stack: contextlib.ExitStack, path: Path, folder: Path, options: argparse.Namespace
) -> Way:
    flags = (*model_flags(path, options), "--kv-reuse", "exact")
    url, _ = stack.enter_context(listening("serve", *flags))
    device = stack.enter_context(Device(url, folder / "cache"))

    def first(ids: list[int], tokens: int) -> tuple[list[int], float]:
        turn = device.once(ids, tokens)
        if not turn.restored:
            raise SystemExit("nothing of a known prefix was restored")
        return turn.ids, turn.ms

    return Way(lambda ids: device.once(ids), first)


def _asked(worker: Worker, kept: dict[str, Any], **way: Any) -> Way:
    def first(ids: list[int], tokens: int) -> tuple[list[int], float]:
        answer = worker.ask(op="first", ids=ids, tokens=tokens, **way)
        return answer["ids"], answer["ms"]

    return Way(lambda ids: worker.ask(op="keep", ids=ids, **kept), first)


def _add_kvboost(
    stack: contextlib.ExitStack, ways: dict[str, Way], path: Path, options: argparse.Namespace
) -> str:
    arguments = (str(path), options.dtype, str(options.threads))
    worker = Worker("scripts.bench.peers.kv_boost", *arguments, python=options.kvboost_python)
    stack.callback(worker.close)
    for words, mode, chunk in (
        (f"prefix cache, chunks of {_CHUNK}", "prefix_cache", _CHUNK),
        (f"chunk reuse, chunks of {_CHUNK}", "chunk_kv_reuse", _CHUNK),
        ("prefix cache, one chunk", "prefix_cache", options.known),
    ):
        ways[f"KVBoost, {words}"] = _asked(worker, {"chunk": chunk}, mode=mode)
    return f"KVBoost {worker.ask(op='facts')['version']}."


def _add_llama(
    stack: contextlib.ExitStack, ways: dict[str, Way], folder: Path, options: argparse.Namespace
) -> str:
    # Its file is made of bfloat16, as the checkpoint is that ours computes in that dtype.
    source = random_checkpoint(options.shape, folder, "bfloat16")
    file = folder / f"{options.shape}-f16.gguf"
    vocabulary = str(SHAPES[options.shape]["vocab_size"])
    command = [options.llama_python, "-m", "scripts.bench.peers.gguf_file", source, file, "f16"]
    if not file.exists():
        subprocess.run([*command, vocabulary], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    arguments = (str(file), str(options.threads), str(2 * options.prompt))
    worker = Worker("scripts.bench.peers.llama_prefixes", *arguments, python=options.llama_python)
    stack.callback(worker.close)
    ways["llama.cpp f16, prefix match"] = _asked(worker, {}, way="match")
    ways["llama.cpp f16, saved state"] = _asked(worker, {}, way="state")
    facts = worker.ask(op="facts")
    return f"llama-cpp-python {facts['version']}, {facts['features']}."


def _check(ways: dict[str, Way], path: Path, prompts: Prompts, options: argparse.Namespace) -> None:
    """Every way gives the model's tokens, or the table says that it does not; ours has to."""
    oracle = Oracle(path, options.dtype)
    prompt = prompts.new(options.prompt)
    try:
        for name, way in ways.items():
            way.keep(prompt[: options.known])
            found, _ = way.first(prompt, _CHECKED)
            try:
                oracle.require(prompt, found, name)
            except SystemExit as wrong:
                if name == _OURS:
                    raise
                way.right = str(wrong.code).split(": ")[-1]
    finally:
        oracle.close()


def _round(ways: dict[str, Way], prompt: list[int], known: int, number: int) -> None:
    """Everybody's turn with one prompt, each time another one first."""
    names = list(ways)
    for name in names[number % len(names) :] + names[: number % len(names)]:
        ways[name].keep(prompt[:known])
        ways[name].times.append(ways[name].first(prompt, 1)[1])


def _rows(ways: dict[str, Way]) -> list[list[str]]:
    ours = ways[_OURS].times
    rows = []
    for name, way in ways.items():
        ratios = [theirs / mine for theirs, mine in zip(way.times, ours, strict=True)]
        ratio = "" if name == _OURS else f"{median(ratios):.2f} x"
        rows.append([name, spread(way.times, "ms", 0), ratio, way.right])
    return rows


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=150)
    made.add_argument("--prompt", type=int, default=1024)
    made.add_argument("--known", type=int, default=960)
    made.add_argument("--rounds", type=int, default=7)
    for peer in ("kvboost", "llama"):
        made.add_argument(
            f"--{peer}-python", metavar="PYTHON", help=f"interpreter that has {peer} installed"
        )
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
