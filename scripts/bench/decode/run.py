"""Decode speed over loopback against Hugging Face ``generate``, in interleaved pairs.

One real split-server, one device client and one ``generate``, each in its own process; only one
computes at a time. Reports tokens per second, where a token's time goes, bytes per token and the
client's private memory.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import REAL, SHAPES, served_checkpoint, weight_bytes
from scripts.bench.timing import Course
from scripts.bench.workers import Worker
from scripts.listening import listening

PROMPT = "the device holds the ends of a model and the server its middle " * 4
# One that the real model does not end soon; its own chat template.
_STORY = (
    "<|im_start|>system\nYou are a patient teacher. Answer in two sentences.<|im_end|>\n"
    "<|im_start|>user\nWrite a short story about a lighthouse keeper and a storm.<|im_end|>\n"
    "<|im_start|>assistant\n"
)
# Rounding logits to bfloat16 (8 bits) reorders candidates that are closer than this.
_TOLERATED_SHORTFALL = 0.1
# Tokens per second over those of ``generate``, of shape m in bfloat16.
_WANTED = 2.0


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        flags = ("--model", str(path), "--dtype", options.dtype, *options.server)
        url, _ = stack.enter_context(listening("serve", *flags))
        client = Worker("scripts.bench.client_worker", url, str(folder / "cache"))
        stack.callback(client.close)
        peer = Worker("scripts.bench.peers.generate", str(path), options.dtype)
        stack.callback(peer.close)
        prompt = _STORY if options.shape == REAL else PROMPT
        ids = client.ask(op="prepare", prompt=prompt)["ids"]
        _check(client, peer, prompt, ids, options.tokens)
        course = Course.of(options)
        pairs: list[dict[str, Any]] = []
        while len(pairs) < options.pairs and not (pairs and course.over()):
            pairs.append(_pair(client, peer, prompt, ids, options.tokens))
        private = client.ask(op="memory")["private"]
        # The checkpoint's size is read before its folder goes.
        _report(options, path, len(ids), pairs, private)


def _check(client: Worker, peer: Worker, prompt: str, ids: list[int], tokens: int) -> None:
    """The client's choice must be the model's at every step, up to the rounding of the dtype."""
    mine = client.ask(op="generate", prompt=prompt, tokens=tokens)["ids"]
    if len(mine) < tokens:
        raise SystemExit(
            f"the model ends its reply after {len(mine)} tokens; ask for --tokens less"
        )
    shortfall = peer.ask(op="check", ids=ids, new=mine)["short"]
    if not shortfall <= _TOLERATED_SHORTFALL:
        raise SystemExit(f"the client's tokens are not the model's: {shortfall:.3f} sigma short")


def _pair(client: Worker, peer: Worker, prompt: str, ids: list[int], tokens: int) -> dict[str, Any]:
    mine = client.ask(op="generate", prompt=prompt, tokens=tokens)
    theirs = peer.ask(op="generate", ids=ids, tokens=tokens)
    return {"mine": mine, "theirs": theirs, "ratio": theirs["seconds"] / mine["seconds"]}


def _report(
    options: argparse.Namespace, path: Path, prompt: int, pairs: list[Any], private: int
) -> None:
    steps = options.tokens - 1
    mine = [pair["mine"] for pair in pairs]
    names = ("wire_ms", "queue_ms", "engine_ms", "device_ms")
    parts = {name: [median(one[name]) for one in mine] for name in names}
    item = 4 if options.dtype == "float32" else 2
    tensors = 2 * item * SHAPES[options.shape]["hidden_size"]
    speed = [steps / one["seconds"] for one in mine]
    peer = [steps / pair["theirs"]["seconds"] for pair in pairs]
    allowed = (0.6 * weight_bytes(path) + 150e6) / 1e6
    rows = [
        ["tokens per second, split", spread(speed, "1/s")],
        ["tokens per second, generate", spread(peer, "1/s")],
        ["split / generate, per pair", spread([pair["ratio"] for pair in pairs], "x", 3)],
        ["engine step: the model", spread(parts["engine_ms"], "ms")],
        ["engine step: its queue", spread(parts["queue_ms"], "ms", 3)],
        ["device compute, frames included", spread(parts["device_ms"], "ms")],
        ["everything else", spread(parts["wire_ms"], "ms", 3)],
        ["private memory of the client", f"{private / 1e6:.0f} MB"],
        ["0.6 x weights + 150 MB", f"{allowed:.0f} MB"],
        ["frame bytes of a decode step", spread([one["bytes_per_step"] for one in mine], "B", 0)],
        ["its two tensors", f"{tensors} B"],
    ]
    title = f"Decode, shape {options.shape}"
    print(heading(title, options.dtype))
    flags = f" Server: `{' '.join(options.server)}`." if options.server else ""
    print(f"Prompt {prompt}, {options.tokens} tokens, {len(pairs)} interleaved pairs.{flags}\n")
    print(table(["figure", "median (minimum to maximum)"], rows))
    if (options.shape, options.dtype) == ("m", "bfloat16"):
        print(f"Split / generate: at least {_WANTED:g} x is wanted.")


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=24)
    common.add_server_option(parser)
    Course.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
