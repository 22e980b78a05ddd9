"""A chat goes on: in the session that stayed, and where the server has given that up.

One real split-server with tokens. In each round a chat of so many tokens is made once, and goes on
with new rows each time: where it stayed; on a second device with the same token; after its session
expired; after another principal's session took its place; with --disk also at a server that was
started anew. Tokens are compared with the model's before anything is timed. What goes up is counted
against two bytes for each restored token and the new rows.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from scripts.bench.report import finish, median, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts, Talk, Turn
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.listening import listening

_TTL = 3.0
_REPLY = 8
# Seconds after which an idle session is on disk for certain: it is written when it was idle for 2.
_WRITTEN = 6.0
_TOKEN, _OTHER = "bench-token-of-the-chat", "bench-token-of-another"
_STAYED, _DISK = "stayed", "from disk, server started anew"
_FULL = 3
_QUICK = {"chat": 600, "new": 40, "rounds": 2}
_HEAD = ("the chat", "first token", "over one that stayed", "restored", "rows sent", "bytes up")


class Bench:
    """``turns`` by what happened to the session before."""

    def __init__(self, folder: Path, path: Path, options: argparse.Namespace) -> None:
        self._folder, self._path, self._options = folder, path, options
        self.turns: dict[str, list[tuple[Turn, int]]] = defaultdict(list)
        self._tokens = folder / "tokens"
        self._tokens.write_text(f"one {_TOKEN}\nother {_OTHER}\n")
        self._tokens.chmod(0o600)
        self._prompts = Prompts(SHAPES[options.shape]["vocab_size"], seed=3)

    def memory(self, oracle: Oracle) -> None:
        """All rounds at one server."""
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(self._server())
            first, second = (
                stack.enter_context(Device(url, self._folder / name, _TOKEN)) for name in "ab"
            )
            other = stack.enter_context(Device(url, self._folder / "c", _OTHER))
            for number in rounds(self._options.rounds, self._options.seconds, least=2):
                with first.talk() as talk:
                    self._round(talk, first, second, other, oracle if number == 0 else None)

    def disk(self, oracle: Oracle) -> None:
        """Rounds of two servers one after the other, which share a folder."""
        flags = ("--kv-disk", str(self._folder / "kv"))
        for number in range(self._options.disk_rounds):
            with self._server(*flags) as url, Device(url, self._folder / "a", _TOKEN) as device:
                with device.talk() as talk:
                    chat = self._chat(talk)
                time.sleep(_WRITTEN)
            with self._server(*flags) as url, Device(url, self._folder / "a", _TOKEN) as device:
                device.once(self._prompts.new(len(chat)), cache="off")
                with device.talk() as talk:
                    self._goes_on(_DISK, talk, chat, oracle if number == 0 else None)

    def _server(self, *flags: str) -> contextlib.AbstractContextManager[str]:
        model = model_flags(self._path, self._options)
        state = ("--token-file", str(self._tokens), "--state", str(self._folder / "state"))
        limits = ("--session-ttl", str(_TTL), "--max-sessions", str(_FULL))
        return _url(*model, "--kv-reuse", "exact", *state, *limits, *flags)

    def _chat(self, talk: Talk) -> list[int]:
        """A chat of so many tokens, whose last ones were decoded."""
        prompt = self._prompts.new(self._options.chat - _REPLY)
        return prompt + talk.reply(prompt, _REPLY).ids

    def _round(
        self, talk: Talk, first: Device, second: Device, other: Device, oracle: Oracle | None
    ) -> None:
        chat = self._chat(talk)
        self._goes_on(_STAYED, talk, chat, oracle)
        with second.talk() as again:
            self._goes_on("on a second device", again, chat, oracle)
        self._stands_at(talk, chat)
        # Whoever opens a session has those that expired swept.
        time.sleep(_TTL + 0.2)
        other.once(self._prompts.new(4))
        self._goes_on("after it expired", talk, chat, oracle)
        self._stands_at(talk, chat)
        with contextlib.ExitStack() as stack:
            # One that holds more sessions than its share loses the longest idle one.
            for device in (first,) * (_FULL - 1) + (other,):
                stack.enter_context(device.talk()).reply(self._prompts.new(4))
        self._goes_on("after it was evicted", talk, chat, oracle)

    def _stands_at(self, talk: Talk, chat: list[int]) -> None:
        """Have the session of ``talk`` end with ``chat``."""
        talk.sequence.cache(chat)

    def _goes_on(self, name: str, talk: Talk, chat: list[int], oracle: Oracle | None) -> None:
        prompt = chat + self._prompts.new(self._options.new)
        before = talk.sequence.counters.rows_sent
        turn = talk.reply(prompt)
        sent = talk.sequence.counters.rows_sent - before
        if oracle is not None:
            oracle.require(prompt, turn.ids, name)
        lost = name != _STAYED
        if lost and turn.restored < len(chat) - 64:
            raise SystemExit(f"{name}: {turn.restored} of {len(chat)} positions were restored")
        self.turns[name].append((turn, sent))


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        own = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        title = f"A chat of {options.chat:,} tokens goes on, shape {options.shape}"
        page = Page(title, options.dtype)
        bench, oracle = Bench(own, path, options), Oracle(path, options.dtype)
        stack.callback(oracle.close)
        bench.memory(oracle)
        if options.disk and _has_disk():
            bench.disk(oracle)
        elif options.disk:
            page.add("Nothing from disk: this split-server has no --kv-disk.")
    row = SHAPES[options.shape]["hidden_size"] * (4 if options.dtype == "float32" else 2)
    page.add(table(_HEAD, [_line(name, turns, bench.turns) for name, turns in bench.turns.items()]))
    problems = _beyond(bench, row)
    page.add(
        f"Each goes on with {options.new} new tokens; rows of {row:,} bytes. Allowed to go up: 2 "
        "bytes for each restored token and the rows that were sent."
    )
    page.add("\n".join(f"- {problem}" for problem in problems))
    page.end(options.out)
    finish(problems)


def _line(
    name: str, turns: list[tuple[Turn, int]], every: dict[str, list[tuple[Turn, int]]]
) -> list[str]:
    times = [turn.ms for turn, _ in turns]
    stayed = [turn.ms for turn, _ in every[_STAYED]]
    pairs = zip(times, stayed, strict=False)
    ratio = "" if name == _STAYED else spread([ms / ours for ms, ours in pairs], "x")
    turn, sent = turns[0]
    up = median([turn.up for turn, _ in turns])
    return [name, spread(times, "ms", 0), ratio, f"{turn.restored:,}", str(sent), f"{up:,.0f}"]


def _beyond(bench: Bench, row: int) -> list[str]:
    """What goes up beyond what is allowed."""
    found = []
    for name, turns in bench.turns.items():
        over = [turn.up - sent * row - 2 * turn.restored for turn, sent in turns]
        if name != _STAYED and max(over) > 0:
            found.append(f"{name}: {max(over):,} bytes more went up than is allowed")
    return found


@contextlib.contextmanager
def _url(*arguments: str) -> Iterator[str]:
    with listening("serve", *arguments) as (url, _):
        yield url


def _has_disk() -> bool:
    program = Path(sys.executable).parent / "split-server"
    told = subprocess.run([program, "serve", "--help"], capture_output=True, text=True, check=True)
    return "--kv-disk" in told.stdout


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=120)
    made.add_argument("--chat", type=int, default=1158)
    made.add_argument("--new", type=int, default=64, help="tokens with which it goes on")
    made.add_argument("--rounds", type=int, default=9)
    made.add_argument("--disk", action="store_true", help="also at a server started anew")
    made.add_argument("--disk-rounds", type=int, default=3)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
