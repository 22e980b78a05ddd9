"""Time to the hidden state of a prompt of which the server has computed a part before.

One real split-server. For each share of the prompt that an earlier session left behind, in turn: a
new session that asks for it, one that sends all rows but lets the server find it, and one with
``cache`` ``off``, which computes everything. The states are compared before anything is timed. Then
prompts that nobody has sent, with keeping and without: what it costs to keep.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.bench import options as common
from scripts.bench.report import heading, interval, median, spread, table
from scripts.bench.row_sessions import RowSession, Served
from scripts.bench.shapes import random_checkpoint
from scripts.listening import listening
from split_wire.messages import Cache

# The server asks for no token.
_NOBODY = ""
# Of states in bfloat16, which other slices of the same sums round otherwise.
_LEAST_COSINE = {"float32": 0.999999, "bfloat16": 0.999}


@dataclass(frozen=True, slots=True)
class Turn:
    """Milliseconds from the beginning of a session to its state; bytes that went up."""

    ms: float
    sent: int
    restored: int
    hidden: np.ndarray


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
        path = random_checkpoint(options.shape, folder, options.dtype)
        flags = ("--model", str(path), "--dtype", options.dtype, "--no-compat")
        url, _ = stack.enter_context(listening("serve", *flags, "--kv-reuse", "exact"))
        bench = Bench(Served.at(url, _NOBODY, folder / "cache"), options)
        bench.turn(bench.new_prompt(), "off")
        known = [bench.known(positions) for positions in options.known]
        cold = bench.cold()
    _report(options, known, cold)


class Bench:
    """Sessions with seeded prompts at one server."""

    def __init__(self, served: Served, options: argparse.Namespace) -> None:
        self._served, self._options = served, options
        self._random = np.random.default_rng(11)

    def new_prompt(self) -> list[int]:
        """Tokens that no prompt before began with."""
        drawn = self._random.integers(0, self._served.vocabulary, self._options.prompt)
        return [int(token) for token in drawn]

    def turn(self, prompt: list[int], cache: Cache, *, asks: bool = True) -> Turn:
        """A session of its own from its beginning to the state of ``prompt``."""
        session = RowSession(self._served, _NOBODY, cache=cache, asks=asks)
        began = time.perf_counter()
        extended = session.sequence.extend(prompt)
        ms = 1e3 * (time.perf_counter() - began)
        turn = Turn(ms, session.sent, extended.restored, extended.hidden)
        session.close()
        return turn

    def known(self, positions: int) -> Known:
        """Rounds in which the first ``positions`` of a prompt were computed before."""
        rounds = Known(positions, [], [], [])
        for _ in range(self._options.rounds):
            prompts = [self.new_prompt() for _ in range(2)]
            for prompt in prompts:
                self.turn(prompt[:positions], "exact")
            rounds.computed.append(self.turn(prompts[0], "off"))
            rounds.asked.append(self.turn(prompts[0], "exact"))
            plain = self.turn(prompts[1], "off")
            rounds.found.append(self.turn(prompts[1], "exact", asks=False))
            self._compare(rounds.asked[-1], rounds.computed[-1], positions)
            self._compare(rounds.found[-1], plain, positions)
        return rounds

    def cold(self) -> list[float]:
        """Time with keeping over time without, of prompts that nobody has sent."""
        ratios = []
        for number in range(2 * self._options.rounds):
            prompt = self.new_prompt()
            first, second = ("off", "exact") if number % 2 else ("exact", "off")
            # What is kept must not be found by the other one, which looks for nothing.
            times = {kind: self.turn(prompt, kind).ms for kind in (first, second)}
            ratios.append(times["exact"] / times["off"])
        return ratios

    def _compare(self, turn: Turn, computed: Turn, positions: int) -> None:
        left, right = turn.hidden.astype(np.float64), computed.hidden.astype(np.float64)
        cosine = left @ right / np.sqrt(left @ left * (right @ right))
        if not cosine >= _LEAST_COSINE[self._options.dtype]:
            raise SystemExit(f"what was kept gives another state: cosine {cosine:.6f}")
        if turn.restored < positions - 16:
            raise SystemExit(f"{turn.restored} of {positions} known positions were reused")


def _report(options: argparse.Namespace, known: list[Known], cold: list[float]) -> None:
    rows = []
    for one in known:
        computed = [turn.ms for turn in one.computed]
        for name, turns in (("asked for", one.asked), ("sent in vain", one.found)):
            ratios = [c / turn.ms for c, turn in zip(computed, turns, strict=True)]
            rows.append(
                [
                    f"{one.positions} of {options.prompt}, {name}",
                    spread([turn.ms for turn in turns], "ms", 0),
                    spread(computed, "ms", 0),
                    spread(ratios, "x", 1),
                    f"{turns[0].sent:,}",
                    f"{one.computed[0].sent:,}",
                ]
            )
    print(heading(f"A prompt that is known in part, shape {options.shape}", options.dtype))
    head = ["known", "to the state", "all computed", "ratio", "bytes up", "of all"]
    print(table(head, rows))
    low, high = interval(cold)
    print(
        f"Prompts that nobody has sent, with keeping over without: {median(cold):.3f}x "
        f"(95% interval of the median {low:.3f} to {high:.3f}, {len(cold)} pairs).\n"
    )


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--prompt", type=int, default=1024)
    parser.add_argument("--known", type=int, nargs="+", default=[960, 768, 512])
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
