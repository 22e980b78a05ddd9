"""What passes cost whose layers are read from disk: against reads, computing, and accelerate.

Parts: ``pass`` (a pass over the longer of reading and computing, and 32 rows over one), ``peer``
(tokens a second over those of accelerate's disk offload in the same control group), ``memory``
(private memory over the plan, pass after pass) and ``damage`` (damaged layer files). States are
compared before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path

from scripts.bench import options as common
from scripts.bench.report import finish
from scripts.bench.shapes import SHAPES, random_checkpoint
from scripts.bench.streamed.damage import damaged
from scripts.bench.streamed.passes import MANY, passes
from scripts.bench.streamed.peer import against_peer
from scripts.bench.streamed.started import Setting, ours

_PARTS = ("pass", "peer", "memory", "damage")


def main() -> None:
    options = _options()
    problems: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        setting = Setting(
            path=random_checkpoint(options.shape, folder, options.dtype),
            layers=Path(options.layers or folder / "layers"),
            shape=options.shape,
            dtype=options.dtype,
            streamed=options.streamed or int(SHAPES[options.shape]["num_hidden_layers"]),
            threads=options.threads,
            rounds=options.rounds,
            quantize=options.quantize,
        )
        if "pass" in options.parts:
            problems += passes(setting)
        if "peer" in options.parts:
            problems += against_peer(
                replace(setting, quantize="none"), options.peer_python, options.group_bytes
            )
        if "memory" in options.parts:
            problems += _memory(setting, options.passes)
        if "damage" in options.parts:
            problems += _damage(random_checkpoint("s", folder, "float32"), options.files)
    finish(problems)


def _memory(setting: Setting, count: int) -> list[str]:
    with ours(setting, setting.streamed) as worker:
        worker.ask(op="open", sessions=MANY)
        found = worker.ask(op="passes", count=count)
    share = found["most"] / found["planned"]
    print(
        f"Private memory in {count:,} passes of {MANY} sessions: at most "
        f"{found['most'] / 1e6:.0f} MB, {share:.2f} of the plan.\n"
    )
    return [] if share <= 1 else [f"private memory is {share:.2f} times the plan"]


def _damage(path: Path, count: int) -> list[str]:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        found = damaged(path, Path(folder), count)
    told = ", ".join(f"{found[name]:,} {name}" for name in ("right", "refused", "wrong"))
    print(f"{count:,} damaged layer files: {told}.\n")
    return [f"{found['wrong']} damaged files gave wrong states"] if found["wrong"] else []


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=_PARTS, default=list(_PARTS))
    parser.add_argument("--layers", help="folder of the layer file, on the disk that is measured")
    parser.add_argument("--streamed", type=int, help="layers on disk; all without it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--passes", type=int, default=1000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--group-bytes", type=int, default=700_000_000)
    parser.add_argument(
        "--quantize",
        default="none",
        choices=("none", "int8"),
        help="of the parts pass and memory",
    )
    parser.add_argument("--peer-python", help="the interpreter of an environment with accelerate")
    return parser.parse_args()


if __name__ == "__main__":
    main()
