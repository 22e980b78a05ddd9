"""The tables of a soak, and what of it must not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.bench.process_memory import MB
from scripts.bench.report import counted, heading, table
from scripts.bench.rest import Rest
from scripts.bench.soak.oracle import Verdict
from scripts.bench.soak.servers import Life
from scripts.bench.soak.tally import SoakTally, Wait

# A server with little memory says so, and nobody waits for the first connection to a server that is
# down; all else is repaired before a user sees it.
_MAY_FAIL = frozenset(
    {"cache_full", "server_unreachable on connecting", "connection_lost on connecting"}
)
_FAULTS = frozenset({"internal_error", "internal", "server_error"})
# Until everybody is back, with the whole chat sent again.
_AFTERMATH = 30.0


@dataclass(slots=True)
class Soak:
    """All that a soak showed. ``peers``: bad ones; ``refusals``: what newcomers without room were
    told; ``rest`` and ``sessions``: what was left; ``settled`` in seconds.
    """

    tally: SoakTally
    lives: Sequence[Life]
    peers: dict[str, Any]
    refusals: Sequence[str]
    rest: Rest
    sessions: int
    settled: float
    verdict: Verdict = field(default_factory=Verdict)


def report(soak: Soak, clients: int, minutes: float) -> None:
    """Print the tables."""
    kills = len(soak.lives) - 1
    title = f"Soak: {clients} clients, {minutes:g} minutes, server killed {kills} times"
    print(heading(title, "float32"))
    print(table(["figure", "value"], _figures(soak)))
    print(table(_LIFE_HEAD, [_life(life, soak.settled) for life in soak.lives]))


def problems(soak: Soak, growth: float) -> list[str]:
    """Problems: what differed, leaked, grew, or failed without a cause."""
    tally, rest, verdict = soak.tally, soak.rest, soak.verdict
    found = [f"another reply: {what}" for what in verdict.wrong]
    found += [f"unnamed: {reason}" for reason in sorted(set(tally.unnamed))]
    found += [f"a reply failed: {code}" for code in sorted(set(tally.failures) - _MAY_FAIL)]
    for life in soak.lives:
        found += [f"the log ({life.title}): {line}" for line in life.faults if not _meant(line)]
        found += [f"the server told {code}" for code in sorted(_FAULTS & set(life.told))]
        grown = life.growth(soak.settled)
        if grown is not None and grown > growth:
            found.append(f"memory grows by {grown:.2f} MB per minute ({life.title})")
    if not verdict.replies:
        found.append("no reply was read to its end")
    if soak.sessions or rest.reserved:
        found.append(f"{soak.sessions} sessions, {rest.reserved} bytes of cache are left")
    if rest.sockets or rest.running or rest.waiting:
        found.append(f"{rest.sockets} connections, {rest.running} generations are left")
    return found


def _meant(line: str) -> bool:
    """Whether a line tells of the full disk: what needs a folder there is off, and says so."""
    return line.endswith("--no-compat leaves them out") and "[store_failed]" in line


def _figures(soak: Soak) -> list[list[object]]:
    tally, rest, verdict = soak.tally, soak.rest, soak.verdict
    longest = max(tally.waits, key=lambda wait: wait.seconds, default=None)
    calm = [wait for wait in tally.waits if not wait.fault and not _beside(wait, soak.lives)]
    quiet = max(calm, key=lambda wait: wait.seconds, default=None)
    done = Counter(tally.done)
    for known in ("whole reply", "beginning of a reply", "token"):
        done.pop(known, None)
    return [
        ["replies compared", _compared(verdict)],
        ["other than alone, or than `generate`", len(verdict.wrong)],
        ["done", counted(done.most_common())],
        ["failures of which a user is told", counted(tally.failures.most_common()) or "none"],
        ["failures without a named cause", len(tally.unnamed)],
        ["waits of 1 s or more for a token", f"{len(tally.waits):,}"],
        ["longest wait for a token", _wait(longest)],
        ["longest without fault of network or kill", _wait(quiet)],
        ["bad peers", counted(Counter(soak.peers["done"]).most_common()) or "none"],
        ["longest that a mute peer was put up with", f"{soak.peers['put_up_with']:.0f} s"],
        ["newcomers without room, then with", ", ".join(soak.refusals) or "none"],
        ["sessions, cache afterwards", f"{soak.sessions}, {rest.reserved / MB:.1f} MB"],
        ["connections, threads of the server", f"{rest.sockets}, {rest.threads}"],
    ]


def _compared(verdict: Verdict) -> str:
    return (
        f"{verdict.replies:,} whole, {verdict.beginnings:,} beginnings, {verdict.tokens:,} tokens, "
        f"{verdict.prompts:,} different ({verdict.greedy:,} greedy)"
    )


_LIFE_HEAD = ["life", "began to listen after", "lasted", "private memory: first, largest, last"]
_LIFE_HEAD += ["largest of K/V buffers", "growth", "growth beside K/V buffers", "errors told"]


def _life(life: Life, settled: float) -> list[object]:
    private = [sample.private / MB for sample in life.samples]
    grown, beside = life.growth(settled), life.growth(settled, beside_caches=True)
    caches = max(sample.caches for sample in life.samples) / MB
    return [
        life.title,
        f"{life.up - life.down:.1f} s",
        f"{life.samples[-1].seconds:.0f} s",
        f"{private[0]:.0f}, {max(private):.0f}, {private[-1]:.0f} MB",
        f"{caches:.0f} MB",
        _rate(grown),
        _rate(beside),
        counted(life.told.most_common()) or "none",
    ]


def _rate(growth: float | None) -> str:
    return "too short to tell" if growth is None else f"{growth:+.2f} MB per minute"


def _beside(wait: Wait, lives: Sequence[Life]) -> bool:
    """Whether a life began while it lasted, or just before."""
    return any(wait.began < life.up + _AFTERMATH and wait.ended > life.down for life in lives[1:])


def _wait(wait: Wait | None) -> str:
    if wait is None:
        return "below 1 s"
    return f"{wait.seconds:.1f} s" + (f" ({wait.fault})" if wait.fault else "")
