"""Time to first token with an encrypted adapter: this tree's client against another checkout's.

Both are connected to one server and one adapter host of this tree and reply in turn; the next pair
goes the other way round. ``--other`` names the Python of the checkout's environment.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench.report import heading, interval, median, spread, table
from scripts.bench.workers import Worker
from scripts.listening import listening

_ADAPTER = "banking"
_TEXT = "What is an overdraft, and what does one cost me?"
_TOKENS = 12


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, _ = stack.enter_context(listening("serve", "--no-compat"))
        host, _ = stack.enter_context(listening("adapters", "--workers", "1", errors=None))
        clients = []
        for name, settings in (("this", {}), ("other", {"python": options.other})):
            cache = str(folder / name)
            client = Worker("scripts.bench.adapter.client", url, host, cache, **settings)
            stack.callback(client.close)
            clients.append(client)
        _check(clients)
        pairs = [_pair(clients, turned=bool(n % 2)) for n in range(options.pairs)]
    _report(pairs)


def _replied(client: Worker) -> dict[str, Any]:
    return client.ask(op="reply", text=_TEXT, tokens=_TOKENS, adapter=_ADAPTER)


def _check(clients: list[Worker]) -> None:
    """Both must choose the same tokens before anything is timed."""
    mine, theirs = (_replied(client)["ids"] for client in clients)
    if mine != theirs:
        raise SystemExit("the two clients did not choose the same tokens")


def _pair(clients: list[Worker], *, turned: bool) -> tuple[float, float]:
    """Milliseconds to the first token of this tree's client and of the other's."""
    found = [0.0, 0.0]
    for place in (1, 0) if turned else (0, 1):
        found[place] = _replied(clients[place])["first_ms"]
    return found[0], found[1]


def _report(pairs: list[tuple[float, float]]) -> None:
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    ratios = [a / b for a, b in pairs]
    low, high = interval(ratios)
    title = "First token with an encrypted adapter, this tree's client against another's"
    print(heading(title, "float32"))
    print(f"{len(pairs)} interleaved pairs, embedded model; same tokens checked first.\n")
    row = [spread(mine, "ms"), spread(theirs, "ms")]
    row.append(f"{median(ratios):.3f}x ({low:.3f} to {high:.3f})")
    print(table(["this tree", "other", "ratio, 95% interval of its median"], [row]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--other", required=True, help="the other checkout's .venv/bin/python")
    parser.add_argument("--pairs", type=int, default=200)
    return parser.parse_args()


if __name__ == "__main__":
    main()
