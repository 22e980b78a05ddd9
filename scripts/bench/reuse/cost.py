"""What keeping costs: a prompt that nobody has sent, a decoded token, and a hit's own work.

Two real servers in turn, one with ``--kv-reuse exact`` and one with ``off``, wall time and the
processor time of the server's process side by side; a server that keeps is compared with itself
too (sessions with ``cache`` ``off``), which rules out that two processes lie differently in memory.
Then, within this process, looking up and copying in against the prefill that it replaces.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.processor import cpu_seconds
from scripts.bench.report import interval, median, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts, Talk
from scripts.bench.reuse.hit import Hit, hits
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.listening import listening
from split_wire.tiers import Cache

_CHECKED = 4
_QUICK = {"prompt": 256, "pairs": 8, "decode_pairs": 60}
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Side:
    """A server and how its sessions are opened; ``pid``: its process."""

    name: str
    device: Device
    pid: int
    cache: Cache


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds on the clock and of the server's processor."""

    ms: float
    cpu: float


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        page = Page(f"What keeping costs, shape {options.shape}", options.dtype)
        page.add(_hit_table(hits(path, options)))
        keeping, off = (_server(stack, path, folder, options, kind) for kind in ("exact", "off"))
        itself = Side("the same server, cache off", keeping.device, keeping.pid, "off")
        prompts = Prompts(keeping.device.vocabulary)
        _check(path, (keeping, off), prompts.new(options.prompt), options.dtype)
        rows = []
        for other in (off, itself):
            rows.append(
                [f"cold prompt over {other.name}", *_cold((keeping, other), prompts, options)]
            )
            rows.append([f"decode over {other.name}", *_decode((keeping, other), prompts, options)])
        page.add(table(["keeping", "wall", "processor of the server", "pairs"], rows))
        page.add(_WORDS.format(prompt=options.prompt, tokens=options.tokens))
    page.end(options.out)


_WORDS = (
    "Ratios of what keeps over what does not, with 95% intervals: of the median for cold prompts "
    "of {prompt:,} tokens; for decoding, in pairs of {tokens} tokens each, of all time over all "
    "time (bootstrap over pairs), because every 64th token publishes for the others."
)


def _server(
    stack: contextlib.ExitStack, path: Path, folder: Path, options: argparse.Namespace, kind: str
) -> Side:
    flags = (*model_flags(path, options), "--kv-reuse", kind)
    url, pid = stack.enter_context(listening("serve", *flags))
    device = stack.enter_context(Device(url, folder / "cache"))
    return Side(f"--kv-reuse {kind}", device, pid, "exact")


def _check(path: Path, sides: Sequence[Side], prompt: list[int], dtype: str) -> None:
    oracle = Oracle(path, dtype)
    try:
        for side in sides:
            for _ in range(2):
                turn = side.device.once(prompt, _CHECKED)
                oracle.require(prompt, turn.ids, side.name)
    finally:
        oracle.close()


def _cold(sides: tuple[Side, Side], prompts: Prompts, options: argparse.Namespace) -> list[str]:
    """First tokens of prompts that nobody has sent, in turn."""
    pairs = []
    for number in rounds(options.pairs, options.seconds / 4, least=5):
        prompt = prompts.new(options.prompt)

        def first(side: Side, prompt: list[int] = prompt) -> Spent:
            return _spent(side, lambda: side.device.once(prompt, cache=side.cache))

        pairs.append(_in_turn(sides, first, number))
    cells = []
    for part in ("ms", "cpu"):
        ratios = [getattr(ours, part) / getattr(other, part) for ours, other in pairs]
        cells.append(_ratio(median(ratios), interval(ratios)))
    return [*cells, str(len(pairs))]


def _decode(sides: tuple[Side, Side], prompts: Prompts, options: argparse.Namespace) -> list[str]:
    """Tokens of two chats that go on in turn."""
    prompt = prompts.new(options.prompt // 2)
    with contextlib.ExitStack() as stack:
        talks = [stack.enter_context(side.device.talk(side.cache)) for side in sides]
        ids = [prompt + talk.reply(prompt).ids for talk in talks]
        pairs = []
        for number in rounds(options.decode_pairs, options.seconds / 4, least=20):

            def decoded(side: Side) -> Spent:
                at = sides.index(side)
                return _spent(side, lambda: ids[at].extend(_reply(talks[at], ids[at], options)))

            pairs.append(_in_turn(sides, decoded, number))
    cells = []
    for part in ("ms", "cpu"):
        both = [(getattr(ours, part), getattr(other, part)) for ours, other in pairs]
        cells.append(_ratio(_of_sums(both), _bootstrap(both)))
    return [*cells, str(len(pairs))]


def _reply(talk: Talk, ids: list[int], options: argparse.Namespace) -> list[int]:
    return talk.reply(ids, options.tokens).ids


def _in_turn(
    sides: tuple[Side, Side], work: Callable[[Side], Spent], number: int
) -> tuple[Spent, Spent]:
    """Both, each time the other one first."""
    if number % 2:
        second = work(sides[1])
        return work(sides[0]), second
    return work(sides[0]), work(sides[1])


def _spent(side: Side, work: Callable[[], object]) -> Spent:
    cpu, began = cpu_seconds(side.pid), time.perf_counter()
    work()
    ms = 1e3 * (time.perf_counter() - began)
    return Spent(ms, 1e3 * (cpu_seconds(side.pid) - cpu))


def _of_sums(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(ours for ours, _ in pairs) / sum(other for _, other in pairs)


def _bootstrap(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """95% interval of the ratio of sums: percentiles of pairs drawn again."""
    draw = random.Random(0)
    found = sorted(_of_sums(draw.choices(pairs, k=len(pairs))) for _ in range(_RESAMPLES))
    return found[_RESAMPLES // 40], found[-1 - _RESAMPLES // 40]


def _ratio(middle: float, between: tuple[float, float]) -> str:
    return f"{middle:.3f} x ({between[0]:.3f} to {between[1]:.3f})"


def _hit_table(found: Sequence[Hit]) -> str:
    rows = [
        [
            f"{found[0].positions:,} positions taken in",
            spread([hit.prefill for hit in found], "ms", 1),
            spread([hit.look_up for hit in found], "ms"),
            spread([hit.taken_in for hit in found], "ms"),
            f"{median([100 * hit.taken_in / hit.prefill for hit in found]):.2f}%",
            spread([hit.published for hit in found], "ms"),
        ]
    ]
    head = ["", "their prefill", "look-up", "look-up and copy", "of the prefill", "publishing them"]
    return table(head, rows)


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=220)
    made.add_argument("--prompt", type=int, default=1024)
    made.add_argument("--pairs", type=int, default=40, help="of cold prompts")
    made.add_argument("--decode-pairs", type=int, default=200)
    made.add_argument("--tokens", type=int, default=4, help="of a pair's decoding")
    made.add_argument("--hits", type=int, default=5)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
