"""Time to the first token after an edit early in a long prompt: moved, and computed anew.

One real split-server and a device. In turn, for the same prompt and the same edit: a session that
asks for exact rows computes all behind the edit, one that takes approximate ones has it moved.
Tokens of the exact way are checked against Hugging Face's before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.report import finish, median, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts, Talk, Turn
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.listening import listening

_CHECKED = 4
_MOST_ROWS, _MOST_BLENDED, _MOST_TIME = 0.20, 0.35, 0.33
_QUICK = {"prompts": [512], "rounds": 3}
_HEAD = ("prompt", "behind the edit", "rows computed", "of them", "first token", "exact", "ratio")


@dataclass(frozen=True, slots=True)
class Edited:
    """One edit both ways; ``rows`` that were computed behind it, of ``behind``."""

    behind: int
    rows: int
    moved: Turn
    exact: Turn


def main() -> None:
    options = _options()
    problems, lines = list[str](), list[list[str]]()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        kept = ("--kv-reuse", "exact", "--kv-approximate", "on", "--kv-audit", "0")
        flags = (*model_flags(path, options), *kept)
        url, _ = stack.enter_context(listening("serve", *flags))
        device = stack.enter_context(Device(url, folder / "cache"))
        title = f", blend {options.blend}" if options.blend else ""
        page = Page(f"One edited line, shape {options.shape}{title}", options.dtype)
        bench = Bench(device, options)
        bench.check(path)
        for count in options.prompts:
            found = bench.measured(count)
            lines.append(_line(count, found))
            problems += _problems(count, found, blended=options.blend > 0)
    page.add(table(_HEAD, lines))
    page.add(_WORDS.format(at=options.at, line=options.line, question=options.question))
    page.end(options.out)
    finish([] if options.quick else problems)


_WORDS = (
    "A line of {line} tokens at position {at} becomes one of two more, and the last {question} "
    "tokens are other ones. Computed are the new line, the 8 rows behind it, and the question."
)


class Bench:
    """Prompts of random tokens at one server."""

    def __init__(self, device: Device, options: argparse.Namespace) -> None:
        self._device, self._options = device, options
        self._prompts = Prompts(device.vocabulary)

    def check(self, path: Path) -> None:
        """Where nothing is moved, tokens are those of ``generate``."""
        oracle = Oracle(path, self._options.dtype)
        try:
            before, after = self._texts(min(self._options.prompts))
            with self._device.talk("exact") as talk:
                talk.reply(before)
                oracle.require(after, talk.reply(after, _CHECKED).ids, "an edit, exact")
        finally:
            oracle.close()

    def measured(self, count: int) -> list[Edited]:
        """Edits of prompts of so many tokens."""
        found, seconds = list[Edited](), self._options.seconds / len(self._options.prompts)
        for _ in rounds(self._options.rounds, seconds, least=2):
            before, after = self._texts(count)
            with self._device.talk("exact") as exact, self._device.talk("approximate") as near:
                near.sequence.edits.blend = self._options.blend
                for talk in (exact, near):
                    talk.reply(before)
                right, rows = self._timed(exact, after)
                if rows < len(after) - self._options.at:
                    raise SystemExit(f"an exact session computed {rows} rows alone")
                moved, rows = self._timed(near, after)
                if not near.sequence.counters.rows_moved:
                    raise SystemExit(f"nothing was moved: {near.sequence.counters}")
            found.append(Edited(len(after) - self._options.at, rows, moved, right))
        return found

    def _timed(self, talk: Talk, ids: list[int]) -> tuple[Turn, int]:
        """A turn, and the rows of the prompt that it sent."""
        sent = talk.sequence.counters.rows_sent
        turn = talk.reply(ids)
        return turn, talk.sequence.counters.rows_sent - sent

    def _texts(self, count: int) -> tuple[list[int], list[int]]:
        """A prompt, and the same with another line and another question."""
        options, text = self._options, self._prompts.new(count)
        line, question = self._prompts.new(options.line + 2), self._prompts.new(options.question)
        behind = text[options.at + options.line : count - options.question]
        return text, [*text[: options.at], *line, *behind, *question]


def _line(count: int, found: list[Edited]) -> list[str]:
    one = found[0]
    return [
        f"{count:,}",
        f"{one.behind:,}",
        f"{one.rows:,}",
        f"{one.rows / one.behind:.3f}",
        spread([each.moved.ms for each in found], "ms", 0),
        spread([each.exact.ms for each in found], "ms", 0),
        spread([each.moved.ms / each.exact.ms for each in found], "x"),
    ]


def _problems(count: int, found: list[Edited], *, blended: bool) -> list[str]:
    problems, most = [], _MOST_BLENDED if blended else _MOST_ROWS
    share = max(each.rows / each.behind for each in found)
    ratio = median([each.moved.ms / each.exact.ms for each in found])
    if share > most:
        problems.append(f"{count} tokens: {share:.3f} of the rows; at most {most} is wanted")
    if ratio > _MOST_TIME:
        problems.append(f"{count} tokens: {ratio:.2f} of the time; at most {_MOST_TIME} is wanted")
    return problems


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=120)
    made.add_argument("--prompts", type=int, nargs="+", default=[1024, 4000])
    made.add_argument("--at", type=int, default=100, help="where the line begins")
    made.add_argument("--line", type=int, default=12)
    made.add_argument("--question", type=int, default=40)
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--blend", type=float, default=0.0, help="share that is computed anew")
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
