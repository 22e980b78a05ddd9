"""Tokens per second with an encrypted adapter against without, in pairs one after the other.

Real processes: split-server with the model, the adapter host with a made-up adapter of the model's
width, and a device client. The bar: at least 0.8 of the speed without.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

from scripts.bench.adapter.made import NAME, made_adapter
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker
from scripts.listening import listening

_TEXT = "What is split inference, and what does a device hold of a model?"


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        hidden = json.loads((path / "config.json").read_text())["hidden_size"]
        adapters = made_adapter(folder / f"adapters-{hidden}-{options.rank}", hidden, options.rank)
        arguments = ["--model", str(path), "--no-compat"]
        url, _ = stack.enter_context(listening("serve", *arguments))
        flags = ("--adapters", str(adapters), "--workers", str(options.workers))
        host, pid = stack.enter_context(listening("adapters", *flags, errors=None))
        client = Worker("scripts.bench.adapter.client", url, host, str(folder / "cache"))
        stack.callback(client.close)
        pairs = _measured(client, psutil.Process(pid), options)
    _report(options, hidden, pairs)


def _measured(
    client: Worker, host: psutil.Process, options: argparse.Namespace
) -> list[dict[str, dict[str, Any]]]:
    for adapter in ("none", NAME):
        client.ask(op="reply", text=_TEXT, tokens=8, adapter=adapter)
    pairs = []
    for number in range(options.pairs):
        order = ("none", NAME) if number % 2 == 0 else (NAME, "none")
        pair = {}
        for adapter in order:
            before = _cpu_seconds(host)
            reply = client.ask(op="reply", text=_TEXT, tokens=options.tokens, adapter=adapter)
            reply["host_ms"] = 1e3 * (_cpu_seconds(host) - before) / reply["tokens"]
            pair[adapter] = reply
        pairs.append(pair)
        print(f"\rpair {number + 1} of {options.pairs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return pairs


def _cpu_seconds(process: psutil.Process) -> float:
    """Of the host and its workers."""
    times = [member.cpu_times() for member in (process, *process.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def _report(
    options: argparse.Namespace, hidden: int, pairs: list[dict[str, dict[str, Any]]]
) -> None:
    title = f"An encrypted adapter, shape {options.shape}: hidden {hidden}, rank {options.rank}"
    print(heading(title, options.dtype))
    rows = []
    for adapter, words in (("none", "without"), (NAME, "encrypted adapter")):
        replies = [pair[adapter] for pair in pairs]
        rows.append(
            [
                words,
                spread([reply["per_second"] for reply in replies], "tokens/s", 1),
                spread([reply["first_ms"] for reply in replies], "ms", 0),
                spread([reply["cpu_ms"] for reply in replies], "ms"),
                spread([reply["host_ms"] for reply in replies], "ms"),
            ]
        )
    head = ["", "speed", "first token", "CPU of the device per token", "CPU of the host per token"]
    print(table(head, rows))
    ratios = [pair[NAME]["per_second"] / pair["none"]["per_second"] for pair in pairs]
    print(f"{len(pairs)} pairs of {options.tokens} tokens: {spread(ratios, 'of the speed')}.")
    if options.bar and median(ratios) < options.bar:
        raise SystemExit(f"below {options.bar}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shape", choices=["embedded", *SHAPES], default="m")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--folder", help="keep the checkpoint here instead of making it again")
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--bar", type=float, default=0.0, help="fail below this median ratio")
    return parser.parse_args()


if __name__ == "__main__":
    main()
