"""A chat goes on at another server after its own was killed, and where it stayed.

Two real split-servers with one state folder. In each round a chat of so many tokens is made at the
first; ``--idle`` seconds after its turn that server is killed (SIGKILL), and the chat goes on with
new rows at the second, which is warm and knows nothing of it; another chat goes on where it stayed,
as long after its own last turn.
With a --kv-disk that both share the second restores; without, it computes all, as for a chat that
is new to it. Tokens are compared with the model's before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.report import finish, median, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts, Talk, Turn
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.listening import listening

_REPLY = 8
_TOKEN = "bench-token-of-the-chat"  # noqa: S105
_QUICK = {"chat": 300, "new": 40, "rounds": 2}
_MOST_OVER_STAYED, _MOST_OVER_NEW = 1.3, 1.05
_HEAD = ("the chat", "first token", "ratio", "allowed", "restored")


@dataclass
class Rounds:
    """Turns that were compared with each other, in pairs."""

    moved: list[Turn] = field(default_factory=list)
    beside: list[Turn] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Time to the first token, over that of the turn beside."""
        return [one.ms / other.ms for one, other in zip(self.moved, self.beside, strict=True)]


class Bench:
    """``disk``: rounds with a shared --kv-disk against a chat that stayed; ``bare``: without one,
    against a chat that is new.
    """

    def __init__(self, folder: Path, path: Path, options: argparse.Namespace) -> None:
        self._folder, self._path, self._options = folder, path, options
        self._tokens = folder / "tokens"
        self._tokens.write_text(f"one {_TOKEN}\n")
        self._tokens.chmod(0o600)
        self._prompts = Prompts(SHAPES[options.shape]["vocab_size"], seed=7)
        self.disk, self.bare = Rounds(), Rounds()

    def run(self, oracle: Oracle) -> None:
        """All rounds; the second server and its device stay for all of them."""
        flags = ("--kv-disk", str(self._folder / "kv"))
        for turns, more in ((self.disk, flags), (self.bare, ())):
            with self._server("b", *more) as (url, _), self._device(url) as second:
                self._warm(second)
                for number in rounds(self._options.rounds, self._options.seconds / 2, least=2):
                    self._round(turns, second, more, oracle if number == 0 else None)

    def _round(
        self, turns: Rounds, second: Device, more: tuple[str, ...], oracle: Oracle | None
    ) -> None:
        stays = self._stayed(second) if more else self._new(second)
        chat = self._lost(more)
        prompt = chat + self._prompts.new(self._options.new)
        moved = second.once(prompt)
        if oracle is not None:
            oracle.require(prompt, moved.ids, "at another server")
        if more and moved.restored < len(chat) - 64:
            raise SystemExit(f"{moved.restored} of {len(chat)} positions were restored")
        turns.moved.append(moved)
        turns.beside.append(stays)

    def _lost(self, more: tuple[str, ...]) -> list[int]:
        """A chat at a server that was killed after it."""
        with self._server("a", *more) as (url, process), self._device(url) as first:
            self._warm(first)
            with first.talk() as talk:
                chat = self._chat(talk)
                time.sleep(self._options.idle)
                os.kill(process, signal.SIGKILL)
        return chat

    def _stayed(self, device: Device) -> Turn:
        with device.talk() as talk:
            chat = self._chat(talk)
            time.sleep(self._options.idle)
            return talk.reply(chat + self._prompts.new(self._options.new))

    def _new(self, device: Device) -> Turn:
        time.sleep(self._options.idle)
        return device.once(self._prompts.new(self._options.chat + self._options.new))

    def _chat(self, talk: Talk) -> list[int]:
        """A chat of so many tokens, whose last ones were decoded."""
        prompt = self._prompts.new(self._options.chat - _REPLY)
        return prompt + talk.reply(prompt, _REPLY).ids

    def _warm(self, device: Device) -> None:
        # A model's first passes are slower.
        for _ in range(2):
            device.once(self._prompts.new(self._options.chat), cache="off")

    def _device(self, url: str) -> Device:
        return Device(url, self._folder / "cache", _TOKEN)

    @contextlib.contextmanager
    def _server(self, name: str, *flags: str) -> Iterator[tuple[str, int]]:
        model = model_flags(self._path, self._options)
        state = ("--token-file", str(self._tokens), "--state", str(self._folder / "state"))
        share = ("--replica", name, "--memory-share", "0.4")
        with listening("serve", *model, "--kv-reuse", "exact", *state, *share, *flags) as found:
            yield found


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        own = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bench, oracle = Bench(own, path, options), Oracle(path, options.dtype)
        stack.callback(oracle.close)
        bench.run(oracle)
    title = f"A chat of {options.chat:,} tokens goes on at another server, shape {options.shape}"
    page = Page(title, options.dtype)
    page.add(table(_HEAD, list(_rows(bench))))
    page.add(
        f"Each goes on with {options.new} new tokens, {options.idle:g} s after its last turn, when "
        "its server is killed. The other server runs and has never seen it."
    )
    page.end(options.out)
    finish(_beyond(bench))


def _rows(bench: Bench) -> Iterator[list[str]]:
    cases = (
        ("shared --kv-disk", bench.disk, "one that stayed", _MOST_OVER_STAYED),
        ("nothing shared", bench.bare, "a new one", _MOST_OVER_NEW),
    )
    for name, turns, other, most in cases:
        yield [other, spread([turn.ms for turn in turns.beside], "ms", 0), "", "", ""]
        times = spread([turn.ms for turn in turns.moved], "ms", 0)
        ratio = spread(turns.ratios, "x")
        yield [name, times, ratio, f"{most:g}", f"{turns.moved[0].restored:,}"]


def _beyond(bench: Bench) -> list[str]:
    cases = (
        ("with a shared --kv-disk", bench.disk, _MOST_OVER_STAYED),
        ("without", bench.bare, _MOST_OVER_NEW),
    )
    return [
        f"{name}: {median(turns.ratios):.2f} times, allowed are {most:g}"
        for name, turns, most in cases
        if median(turns.ratios) > most
    ]


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=120)
    made.add_argument("--chat", type=int, default=1158)
    made.add_argument("--new", type=int, default=64, help="tokens with which it goes on")
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--idle", type=float, default=3.0, help="seconds before the kill")
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
