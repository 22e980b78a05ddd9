"""A table of Q8_0: sent and kept as rows of bfloat16, sent in blocks, or kept in blocks as well.

    python -m scripts.bench.packed_rows.run --model FOLDER [--megabits 10] [--rounds 3]

FOLDER is what ``split-server import`` makes of a GGUF whose table is Q8_0. Sizes are of the table,
alone and compressed. "unpacked": all blocks to rows, once. Kept in blocks: every look-up unpacks
again, the LM head's derived files are built of blocks and its candidates read from them. All these
times are the processor's, in one thread. Over the link: the Python client from nothing to its first
token, and the page on a phone's viewport from the touch of "Download" until a message can be sent,
by the clock. Ends with an error where blocks give other rows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from scripts.bench.packed_rows.kept_blocks import BlockRows
from scripts.bench.packed_rows.link import client_seconds, link_to, page_seconds
from scripts.bench.report import finish, heading, median, table
from scripts.paths import ROOT
from split_client.generation.head.compact.head import CompactLMHead
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_server.checkpoint.catalog import ends_of
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.slices import FileSource
from split_wire.blocks import q8_0_to_bf16
from tests.web.browsing import node

PACKED = "embedding.bin.q8_0"
_LEVEL, _TOP, _STATES = 6, 50, 20
_IN_NODE = """
import { readFileSync } from 'node:fs';
import { formsOf } from '%s/web/src/weights/download/blocks.js';
const entry = { name: 'e', size: 64, chunkSize: 64 };
const end = { file: 'e', dtype: 'bf16' };
const form = formsOf({ files: [entry], embedding: end, head: end }, 'e.q8_0').get('e');
const blocks = readFileSync(process.argv[1]);
const chunk = ((8 << 20) / 64) * 34;
const times = Array.from({ length: 5 }, () => {
  const began = process.cpuUsage();
  for (let at = 0; at < blocks.length; at += chunk) form.unpacked(blocks.subarray(at, at + chunk));
  return process.cpuUsage(began).user / 1e6;
});
console.log(JSON.stringify(times));
"""


def main() -> None:
    options = _options()
    rows = ends_of(read_checkpoint(options.model, "model")).embedding
    with FileSource.of(rows).opened() as read:
        stored = read(0, rows.size)
    blocks = (options.model / PACKED).read_bytes()
    if q8_0_to_bf16(blocks) != stored:
        finish([f"{PACKED} gives other rows than are stored"])
    print(heading(f"A table of {rows.shape[0]} x {rows.shape[1]} in blocks", "bfloat16"))
    print(table(["table", "bytes", f"zlib, level {_LEVEL}"], _sizes(stored, blocks)))
    print(table(["unpacked once", "seconds"], _unpacking(options.model / PACKED, blocks)))
    print(
        table(
            ["on the device", "kept as rows", "kept in blocks"], _kept(stored, blocks, rows.shape)
        )
    )
    print(
        table(
            [f"at {options.megabits:g} Mbit/s", "rows are sent", "blocks are sent"], _sent(options)
        )
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--megabits", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def _sizes(stored: bytes, blocks: bytes) -> list[list[str]]:
    def packed(data: bytes) -> str:
        began = time.process_time()
        size = len(zlib.compress(data, _LEVEL))
        return f"{size:,} ({time.process_time() - began:.1f} s of processor time)"

    both = {"rows of bfloat16": stored, "blocks of q8_0": blocks}
    return [[name, f"{len(data):,}", packed(data)] for name, data in both.items()]


def _unpacking(path: Path, blocks: bytes) -> list[list[str]]:
    command = [node(), "--input-type=module", "--eval", _IN_NODE % ROOT.as_posix(), path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        ["Python", f"{_seconds(lambda: q8_0_to_bf16(blocks), 5):.2f}"],
        ["JavaScript (Node.js), by chunks of 8 MiB", f"{median(json.loads(done.stdout)):.2f}"],
    ]


def _kept(stored: bytes, blocks: bytes, shape: tuple[int, ...]) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows").write_bytes(stored)
        (folder / "blocks").write_bytes(blocks)
        as_rows = WeightRows.open(folder / "rows", "bf16", shape[0], shape[1])
        in_blocks = BlockRows.of(folder / "blocks", shape[0], shape[1])
        columns = [_head(as_rows, folder / "a"), _head(in_blocks, folder / "b")]
    return [[name, columns[0][name], columns[1][name]] for name in columns[0]]


def _head(rows: WeightRows, folder: Path) -> dict[str, str]:
    """Look-ups of random rows, and products with rows that are scaled and noised."""
    folder.mkdir()
    random = np.random.default_rng(1)
    ids = random.integers(0, rows.rows, 512)
    states = [
        (8 * row + random.standard_normal(rows.hidden)).astype(np.float32)
        for row in rows.take(ids[:_STATES])
    ]
    began = time.process_time()
    exact = ExactLMHead.open(rows, screen_path=folder / "screen", source=bytes(32), threads=1)
    screen = time.process_time() - began
    began = time.process_time()
    compact = CompactLMHead.open(rows, plane_path=folder / "plane", source=bytes(32), threads=1)
    plane = time.process_time() - began

    def milliseconds(head: ExactLMHead | CompactLMHead) -> str:
        times = [_seconds(lambda state=state: head.top(state, _TOP), 5) for state in states]
        return f"{1000 * median(times):.1f} ms"

    return {
        "look-up of a row": f"{1e6 * _seconds(lambda: rows.take(ids[:1]), 200):.0f} us",
        "look-up of 512 rows": f"{1000 * _seconds(lambda: rows.take(ids), 50):.2f} ms",
        "screen of the exact head, built": f"{screen:.2f} s",
        "4-bit copy of the compact head, built": f"{plane:.2f} s",
        f"exact head, top {_TOP}": milliseconds(exact),
        f"compact head, top {_TOP}": milliseconds(compact),
        "all rows": f"{1000 * _seconds(lambda: exact.logits(states[0]), 5):.0f} ms",
    }


def _sent(options: argparse.Namespace) -> list[list[str]]:
    measures = {
        "Python client, first token": client_seconds,
        "page, ready": page_seconds,
    }
    with tempfile.TemporaryDirectory() as name:
        plain = Path(name) / options.model.name
        shutil.copytree(options.model, plain, copy_function=_linked)
        (plain / PACKED).unlink()
        columns = [_times(path, measures, options) for path in (plain, options.model)]
    return [[what, *(column[what] for column in columns)] for what in measures]


def _times(
    model: Path, measures: dict[str, Callable[[str], float]], options: argparse.Namespace
) -> dict[str, str]:
    with link_to(model, options.megabits) as link:
        found = {
            what: median([measure(link.url) for _ in range(options.rounds)])
            for what, measure in measures.items()
        }
    return {what: f"{seconds:.1f} s" for what, seconds in found.items()}


def _linked(source: str, target: str) -> None:
    Path(target).symlink_to(Path(source).resolve())


def _seconds(work: Callable[[], object], count: int) -> float:
    """Of processor time, the median."""
    times = []
    for _ in range(count):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return median(times)


if __name__ == "__main__":
    main()
