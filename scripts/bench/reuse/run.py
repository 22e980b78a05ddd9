"""Time to the first token of a prompt of which the server has computed a part before.

One real split-server and a device. For each share of the prompt that an earlier session left
behind, in turn: a new session that asks for it, one that sends all rows but lets the server find
it, and one with ``cache`` ``off``, which computes everything. Tokens are checked before anything is
timed. What it costs to keep is measured by ``scripts.bench.reuse.cost``.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.report import spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts, Turn
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.listening import listening

_CHECKED = 4
_QUICK = {"prompt": 256, "known": [240, 128], "rounds": 3}
_HEAD = ("known", "first token", "all computed", "ratio", "bytes up", "of all")


@dataclass(frozen=True, slots=True)
class Known:
    """Rounds of one share: asked for, found by the server, and computed."""

    positions: int
    asked: list[Turn]
    found: list[Turn]
    computed: list[Turn]


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        flags = (*model_flags(path, options), "--kv-reuse", "exact")
        url, _ = stack.enter_context(listening("serve", *flags))
        device = stack.enter_context(Device(url, folder / "cache"))
        page = Page(f"A prompt that is known in part, shape {options.shape}", options.dtype)
        bench = Bench(device, options)
        bench.check(path)
        known = [bench.known(positions) for positions in options.known]
    page.add(table(_HEAD, [row for one in known for row in _rows(options.prompt, one)]))
    page.end(options.out)


class Bench:
    """Prompts of random tokens at one server."""

    def __init__(self, device: Device, options: argparse.Namespace) -> None:
        self._device, self._options = device, options
        self._prompts = Prompts(device.vocabulary)

    def check(self, path: Path) -> None:
        """Tokens behind what was kept are those of ``generate``."""
        oracle = Oracle(path, self._options.dtype)
        try:
            for positions in self._options.known:
                prompt = self._left_behind(positions)
                for asks in (True, False):
                    turn = self._device.once(prompt, _CHECKED, asks=asks)
                    oracle.require(prompt, turn.ids, f"{positions} positions were known")
                    prompt = self._left_behind(positions)
        finally:
            oracle.close()

    def known(self, positions: int) -> Known:
        """Rounds in which the first ``positions`` of a prompt were computed before."""
        made = Known(positions, [], [], [])
        seconds = self._options.seconds / len(self._options.known)
        for _ in rounds(self._options.rounds, seconds, least=3):
            prompt, other = self._left_behind(positions), self._left_behind(positions)
            made.computed.append(self._device.once(prompt, cache="off"))
            made.asked.append(self._device.once(prompt))
            made.found.append(self._device.once(other, asks=False))
            self._require(made, positions)
        return made

    def _left_behind(self, positions: int) -> list[int]:
        """A prompt whose first ``positions`` another session has computed."""
        prompt = self._prompts.new(self._options.prompt)
        self._device.once(prompt[:positions])
        return prompt

    def _require(self, made: Known, positions: int) -> None:
        if made.asked[-1].restored < positions - 16:
            raise SystemExit(f"{made.asked[-1].restored} of {positions} positions were restored")
        same = made.asked[-1].ids == made.computed[-1].ids
        if self._options.dtype == "float32" and not same:
            raise SystemExit("what was kept gives another token")


def _rows(prompt: int, one: Known) -> list[list[str]]:
    rows = []
    computed = [turn.ms for turn in one.computed]
    for name, turns in (("asked for", one.asked), ("sent in vain", one.found)):
        ratios = [c / turn.ms for c, turn in zip(computed, turns, strict=True)]
        rows.append(
            [
                f"{one.positions} of {prompt}, {name}",
                spread([turn.ms for turn in turns], "ms", 0),
                spread(computed, "ms", 0),
                spread(ratios, "x", 1),
                f"{turns[0].up:,}",
                f"{one.computed[0].up:,}",
            ]
        )
    return rows


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=200)
    made.add_argument("--prompt", type=int, default=1024)
    made.add_argument("--known", type=int, nargs="+", default=[960, 768, 512])
    made.add_argument("--rounds", type=int, default=7)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
