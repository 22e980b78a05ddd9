"""Time to first token and time per token of this tree's server against another checkout's.

Both serve the same checkpoint in turn to a client each of this tree; a round asks one after the
other and the next round the other way round. ``--other`` names the checkout's ``split-server``.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import random_checkpoint
from scripts.bench.workers import Worker
from scripts.listening import listening

_WORDS = "the server keeps one cache and the device sends what is new " * 60
_SENTENCE = "the device holds the ends of a model and the server its middle " * 4


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = random_checkpoint(options.shape, folder, options.dtype)
        flags = ("serve", "--model", str(path), "--dtype", options.dtype)
        flags += ("--linears", options.linears)
        clients = []
        for name, program in (("this", None), ("other", options.other)):
            url, _ = stack.enter_context(listening(*flags, program=program))
            client = Worker("scripts.bench.client_worker", url, str(folder / f"cache-{name}"))
            stack.callback(client.close)
            clients.append(client)
        _check(clients, options.tokens)
        pairs = [_pair(clients, options.tokens, turned=bool(n % 2)) for n in range(options.rounds)]
    _report(options, pairs)


def _check(clients: list[Worker], tokens: int) -> None:
    """Both must choose the same tokens before anything is timed."""
    mine, theirs = (
        client.ask(op="generate", prompt=_SENTENCE, tokens=tokens)["ids"] for client in clients
    )
    if mine != theirs:
        raise SystemExit("the two servers did not give the same tokens")


def _pair(clients: list[Worker], tokens: int, *, turned: bool) -> list[dict[str, float]]:
    """The figures of this tree's server and of the other's, one measured right after the other."""
    order = (1, 0) if turned else (0, 1)
    found: list[dict[str, float]] = [{}, {}]
    for measure in (partial(_time_per_token, tokens=tokens), _whole_prompt, _next_turn):
        for place in order:
            found[place] |= measure(clients[place])
    return found


def _time_per_token(client: Worker, tokens: int) -> dict[str, float]:
    reply = client.ask(op="generate", prompt=_SENTENCE, tokens=tokens)
    return {"time per token": 1e3 * reply["seconds"] / (tokens - 1)}


def _whole_prompt(client: Worker) -> dict[str, float]:
    client.ask(op="new_chat")
    turn: dict[str, Any] = client.ask(op="turn", text=_WORDS, tokens=2)
    return {"TTFT, whole prompt": turn["kept"]["ttft_ms"]}


def _next_turn(client: Worker) -> dict[str, float]:
    turn: dict[str, Any] = client.ask(op="turn", text="and now", tokens=2)
    return {"TTFT, next turn": turn["kept"]["ttft_ms"]}


def _report(options: argparse.Namespace, pairs: list[list[dict[str, float]]]) -> None:
    rows = []
    for figure in pairs[0][0]:
        mine = [pair[0][figure] for pair in pairs]
        theirs = [pair[1][figure] for pair in pairs]
        ratios = sorted(m / t for m, t in zip(mine, theirs, strict=True))
        low, high = _interval(ratios)
        middle = f"{median(ratios):.3f}x ({low:.3f} to {high:.3f})"
        rows.append([figure, spread(mine, "ms"), spread(theirs, "ms"), middle])
    title = f"This tree's server against another's, shape {options.shape}"
    print(heading(title, options.dtype))
    print(
        f"{len(pairs)} interleaved pairs, {options.tokens} tokens, {options.linears} matrices; "
        "same tokens checked first. The ratio is the median of the pairs with its 95% interval.\n"
    )
    print(table(["figure", "this tree", "other", "ratio"], rows))


def _interval(ordered: Sequence[float]) -> tuple[float, float]:
    """95% interval of the median, by order statistics: ranks n/2 -+ 0.98 sqrt(n)."""
    count = len(ordered)
    low = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
    return ordered[low], ordered[count - 1 - low]


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
