"""Redaction in a real Chromium: milliseconds of its processor per kilobyte, out and back.

    python -m scripts.bench.web.redaction [--rounds 5]

The texts are those of `scripts.bench.redaction.run`: the pages of docs/ with a value in every
kilobyte. The page's own rules run in a worker, as they do in the web app on the way out; in the
web app replies are undone in the page itself. Tokens are not counted. Time is that of the page's
process, all threads, what it takes to hand the texts over included; the median of some rounds is
shown. Before it is timed: no number is in what goes out, and both ways back give the same, with
every number in it. Ends with an error where that fails, or a way takes more than 2 ms per kilobyte.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from typing import Any, Final

from scripts.bench.redaction.speed import texts
from scripts.bench.redaction.values import spellings, values
from scripts.bench.report import heading, spread, table
from scripts.bench.web.loop_peer.chromium import Tab, browser
from scripts.paths import ROOT

MOST_MILLISECONDS: Final = 2.0
_SECRET: Final = list(range(32))
_WHOLE, _PIECES = 1 << 20, 4
# The processor's time is told in hundredths of a second: a way is gone until it has taken this.
_LEAST_SECONDS: Final = 0.5


def main() -> int:
    options = _options()
    made = texts(ROOT / "docs")
    size = sum(len(text.encode()) for text in made) / 1000
    found: dict[str, list[float]] = {}
    with browser() as chromium:
        for number in range(options.rounds):
            with chromium.tab() as tab:
                if number == 0:
                    _check(tab, made)
                for name, seconds in _round(tab, made).items():
                    found.setdefault(name, []).append(1000 * seconds / size)
    print(heading("Redaction in the page", f"{size:.0f} kB"))
    rows = [[name, spread(each, "ms"), f"{MOST_MILLISECONDS:g} ms"] for name, each in found.items()]
    print(table(["per kB", "measured", "bar"], rows))
    return int(max(map(median, found.values())) > MOST_MILLISECONDS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _check(tab: Tab, made: list[str]) -> None:
    tab.ask("redaction", "begin", secret=_SECRET)
    sent: list[str] = tab.ask("redaction", "out", texts=made)
    # As speed.texts spells its numbers.
    planted = {spellings(value.written)[at % 4] for at, value in enumerate(values(20, 7))}
    leaked = [each for each in planted if any(each in text for text in sent)]
    back: list[str] = tab.ask("redaction", "back", size=_WHOLE)
    pieces: list[str] = tab.ask("redaction", "back", size=_PIECES)
    missing = [each for each in planted if not any(each in text for text in back)]
    if leaked or missing or back != pieces:
        raise SystemExit(f"{leaked} went out, {missing} did not come back, {back == pieces=}")


def _round(tab: Tab, made: list[str]) -> dict[str, float]:
    """Seconds of the processor for all texts, by way."""
    tab.ask("redaction", "begin", secret=_SECRET)
    return {
        "out, first time": _timed(tab, "out", once=True, texts=made),
        "out, known": _timed(tab, "out", texts=made),
        "back": _timed(tab, "back", size=_WHOLE),
        "back, four characters at a time": _timed(tab, "back", size=_PIECES),
    }


def _timed(tab: Tab, job: str, *, once: bool = False, **given: Any) -> float:
    began, times = tab.seconds, 0
    while times == 0 or (not once and tab.seconds - began < _LEAST_SECONDS):
        tab.ask("redaction", job, **given)
        times += 1
    return (tab.seconds - began) / times


if __name__ == "__main__":
    sys.exit(main())
