"""Time to first token and time per token of this tree's server against another checkout's.

Both serve the same checkpoint in turn to a client each of this tree; a round asks one after the
other and the next round the other way round. ``--other`` names the checkout's ``split-server``.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading, interval, median, spread, table
from scripts.bench.shapes import served_checkpoint
from scripts.bench.workers import Worker
from scripts.listening import listening

_WORDS = "the server keeps one cache and the device sends what is new " * 60
_SENTENCE = "the device holds the ends of a model and the server its middle " * 4


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        flags = ("serve", "--model", str(path), "--dtype", options.dtype)
        flags += ("--linears", options.linears)
        ends: list[_End] = []
        for name, program in (("this", None), ("other", options.other)):
            url, pid = stack.enter_context(listening(*flags, program=program))
            client = Worker("scripts.bench.client_worker", url, str(folder / f"cache-{name}"))
            stack.callback(client.close)
            ends.append(_End(client, pid))
        _check(ends, options.tokens)
        pairs = [_pair(ends, options.tokens, turned=bool(n % 2)) for n in range(options.rounds)]
    _report(options, pairs)


@dataclass(frozen=True, slots=True)
class _End:
    """A client, and the process of the server that it is connected to."""

    client: Worker
    pid: int

    def processor_seconds(self) -> float:
        """Time that all threads of the server ran (Linux, scheduler statistics in ns)."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return 1e-9 * sum(int(task.read_text().split()[0]) for task in tasks)


def _check(ends: list[_End], tokens: int) -> None:
    """Both must choose the same tokens before anything is timed."""
    mine, theirs = (
        end.client.ask(op="generate", prompt=_SENTENCE, tokens=tokens)["ids"] for end in ends
    )
    if mine != theirs:
        raise SystemExit("the two servers did not give the same tokens")


def _pair(ends: list[_End], tokens: int, *, turned: bool) -> list[dict[str, float]]:
    """The figures of this tree's server and of the other's, one measured right after the other."""
    order = (1, 0) if turned else (0, 1)
    found: list[dict[str, float]] = [{}, {}]
    for measure in (partial(_tokens, tokens=tokens), _whole_prompt, _next_turn):
        for place in order:
            found[place] |= measure(ends[place])
    return found


def _tokens(end: _End, tokens: int) -> dict[str, float]:
    before = end.processor_seconds()
    reply = end.client.ask(op="generate", prompt=_SENTENCE, tokens=tokens)
    used = end.processor_seconds() - before
    return {
        "time per token": 1e3 * reply["seconds"] / (tokens - 1),
        "server's processor time per token": 1e3 * used / tokens,
    }


def _whole_prompt(end: _End) -> dict[str, float]:
    end.client.ask(op="new_chat")
    turn: dict[str, Any] = end.client.ask(op="turn", text=_WORDS, tokens=2)
    return {"TTFT, whole prompt": turn["kept"]["ttft_ms"]}


def _next_turn(end: _End) -> dict[str, float]:
    turn: dict[str, Any] = end.client.ask(op="turn", text="and now", tokens=2)
    return {"TTFT, next turn": turn["kept"]["ttft_ms"]}


def _report(options: argparse.Namespace, pairs: list[list[dict[str, float]]]) -> None:
    rows = []
    for figure in pairs[0][0]:
        mine = [pair[0][figure] for pair in pairs]
        theirs = [pair[1][figure] for pair in pairs]
        ratios = [m / t for m, t in zip(mine, theirs, strict=True)]
        low, high = interval(ratios)
        middle = f"{median(ratios):.3f}x ({low:.3f} to {high:.3f})"
        rows.append([figure, spread(mine, "ms"), spread(theirs, "ms"), middle])
    title = f"This tree's server against another's, shape {options.shape}"
    print(heading(title, options.dtype))
    print(
        f"{len(pairs)} interleaved pairs, {options.tokens} tokens, {options.linears} matrices; "
        "same tokens checked first. The ratio is the median of the pairs with its 95% interval.\n"
    )
    print(table(["figure", "this tree", "other", "ratio"], rows))


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument(
        "--other", required=True, help="the other checkout's .venv/bin/split-server"
    )
    parser.add_argument("--linears", choices=("packed", "plain"), default="packed")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=48)
    return parser.parse_args()


if __name__ == "__main__":
    main()
