"""A running chat and a long prefill that share one server: what each costs the other.

A real split-server and two device clients, each in its own process. A round measures the chat
alone, the prefill alone, and both at once; ratios are taken within a round. ``--check`` computes in
float32 and fails when the chat's tokens beside the prefill differ from those it makes alone.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path

from scripts.bench import options as common
from scripts.bench.fairness.rounds import Round, measure
from scripts.bench.logged_server import logged_server
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import served_checkpoint
from scripts.bench.workers import Worker

_MOST_CHAT, _MOST_PREFILL = 2.0, 1.5


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        flags = ("--model", str(path), "--dtype", options.dtype, *options.server)
        server = stack.enter_context(logged_server(folder / "server.log", *flags))
        # The first client pulls the weights and derives the screen, which the second then finds.
        chat = _client(stack, server.url, folder, options.prompt)
        filler = _client(stack, server.url, folder, options.prompt)
        # Paces, pass times and lazily made buffers are there before anything is timed.
        measure(chat, filler, options.tokens)
        rounds = [
            measure(chat, filler, options.tokens, varied=options.check)
            for _ in range(options.rounds)
        ]
    _report(options, rounds)
    if options.check and not all(one.same for one in rounds):
        raise SystemExit("the chat's tokens beside the prefill are not those it makes alone")


def _client(stack: contextlib.ExitStack, url: str, folder: Path, prompt: int) -> Worker:
    worker = Worker("scripts.bench.fairness.client", url, str(folder / "cache"))
    stack.callback(worker.close)
    worker.ask(op="compose", tokens=prompt)
    return worker


def _report(options: argparse.Namespace, rounds: list[Round]) -> None:
    print(heading(f"Fairness, shape {options.shape}", options.dtype))
    tokens = median([len(one.chat.total) for one in rounds])
    same = sum(one.same for one in rounds)
    print(
        f"A prefill of {rounds[0].prefill.tokens} tokens beside a running chat, {len(rounds)} "
        f"interleaved rounds; {tokens:.0f} tokens of the chat fall into the prefill. The chat's "
        f"tokens equal those it makes alone in {same} of {len(rounds)} rounds "
        f"({rounds[0].distinct} different ones).\n"
    )
    print(table(["figure", "median of the rounds (minimum to maximum)", "bar"], _rows(rounds)))
    print(
        table(["ms", "total", "engine compute", "engine queue", "device", "wire"], _parts(rounds))
    )


def _rows(rounds: list[Round]) -> list[list[str]]:
    def each(values: list[float], unit: str = "ms") -> str:
        return spread(values, unit, 2 if unit == "x" else 1)

    rows = [
        ["chat alone: time per token", each([one.chat_alone.mean for one in rounds]), ""],
        ["chat beside the prefill: mean", each([one.chat.mean for one in rounds]), ""],
    ]
    for share in (50, 95):
        alone = [percentile(one.chat_alone.total, share) for one in rounds]
        beside = [percentile(one.chat.total, share) for one in rounds]
        rows.append([f"p{share}, alone", each(alone), ""])
        rows.append([f"p{share}, beside the prefill", each(beside), ""])
    chat, prefill = ([one.chat_ratio for one in rounds], [one.prefill_ratio for one in rounds])
    return [
        *rows,
        ["**chat, beside / alone**", each(chat, "x"), _bar(median(chat), _MOST_CHAT)],
        ["prefill alone", each([one.prefill_alone.total for one in rounds]), ""],
        ["prefill beside the chat", each([one.prefill.total for one in rounds]), ""],
        ["**prefill, beside / alone**", each(prefill, "x"), _bar(median(prefill), _MOST_PREFILL)],
    ]


def _bar(value: float, most: float) -> str:
    return f"{'met' if value <= most else 'missed'} (at most {most:g}x)"


def _parts(rounds: list[Round]) -> list[list[str]]:
    """The parts of the time: of a mean token, and of the whole prefill."""
    names = ("total", "engine", "queue", "device", "wire")
    rows = []
    for label, kind in (("chat alone, per token", "chat_alone"), ("chat beside", "chat")):
        means = [
            median([sum(values) / len(values) for values in _all(rounds, kind, name)])
            for name in names
        ]
        rows.append([label, *(f"{value:.2f}" for value in means)])
    for label, kind in (("prefill alone", "prefill_alone"), ("prefill beside", "prefill")):
        values = [median(_all(rounds, kind, name)) for name in names]
        rows.append([label, *(f"{value:.0f}" for value in values)])
    return rows


def _all(rounds: list[Round], kind: str, name: str) -> list:
    return [getattr(getattr(one, kind), name) for one in rounds]


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least ``share`` percent do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prompt", type=int, default=4000, help="tokens of the long prompt")
    parser.add_argument("--tokens", type=int, default=128, help="of the chat when it is alone")
    parser.add_argument("--check", action="store_true", help="compute in float32, compare tokens")
    parser.add_argument("server", nargs="*", help="more flags for the server, after --")
    options = parser.parse_args()
    if options.check:
        options.dtype = "float32"
    return options


if __name__ == "__main__":
    main()
