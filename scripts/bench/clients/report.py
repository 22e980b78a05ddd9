"""The table of a mix of clients, and what of it must not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.bench.clients.probe import Probed
from scripts.bench.clients.tally import Tally
from scripts.bench.process_memory import MB, Sample, slope
from scripts.bench.report import counted, table
from scripts.bench.rest import Rest

_PERCENTILES = (50, 99)
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Bars:
    """``stall`` seconds, ``tokenize`` milliseconds (p99), ``growth`` MB per minute; ``compared``:
    whether replies must be those made alone.
    """

    stall: float
    tokenize: float
    growth: float
    compared: bool


@dataclass(frozen=True, slots=True)
class Mixed:
    """All that a mix showed; ``samples`` of the memory while it lasted, which counts as settled
    from ``settled`` seconds on.
    """

    tallies: Mapping[str, Tally]
    probed: Probed
    samples: Sequence[Sample]
    settled: float
    rest: Rest
    faults: Sequence[str]
    unlike: Sequence[str]

    @property
    def growth(self) -> float | None:
        """MB per minute of settled memory beside the caches; None: less than a minute of it."""
        late = [sample for sample in self.samples if sample.seconds >= self.settled]
        if not late or late[-1].seconds < self.settled + _MINUTE:
            return None
        minutes = [sample.seconds / _MINUTE for sample in late]
        return slope(minutes, [(sample.private - sample.caches) / MB for sample in late])


def by_kind(tallies: Mapping[str, Tally]) -> str:
    """A row for each kind of client."""
    head = ["clients", "asked", "finished", "left in the middle", "failed", "events with text"]
    head += ["longest wait for the first", "longest silence after it"]
    rows = [
        [
            kind,
            f"{one.asked:,}",
            f"{one.finished:,}",
            f"{one.broken:,}",
            f"{one.failed:,}",
            f"{one.pieces:,}",
            f"{1e3 * one.first:.0f} ms",
            f"{1e3 * one.silence:.0f} ms",
        ]
        for kind, one in tallies.items()
    ]
    return table(head, rows)


def figures(mixed: Mixed, total: Tally) -> str:
    """Everything that is not of one kind."""
    causes = counted(total.failures.most_common())
    rest, probed, growth = mixed.rest, mixed.probed, mixed.growth
    minute = next((one for one in mixed.samples if one.seconds >= _MINUTE), mixed.samples[0])
    tokenized = [f"p{share} {probed.percentile_ms(share):.1f} ms" for share in _PERCENTILES]
    rows = [
        ["failures by cause", causes or "none"],
        ["failures without a named cause", len(total.unnamed)],
        ["finished replies unlike the one made alone", len(total.different)],
        ["replies alone that differ between kinds", len(mixed.unlike)],
        [
            f"tokenize, {len(probed.seconds):,} times",
            ", ".join([*tokenized, f"largest {1e3 * max(probed.seconds):.1f} ms"]),
        ],
        ["generations of the server that ended", f"{rest.ended:,}"],
        ["their tokens", f"{rest.reply_tokens:,}"],
        ["running, waiting afterwards", f"{rest.running}, {rest.waiting}"],
        ["until nothing ran any more", f"{rest.settled:.1f} s"],
        ["sequences kept for later requests", rest.kept],
        ["cache of sessions once they timed out", f"{rest.reserved / MB:.1f} MB"],
        ["connections, threads of the server at the end", f"{rest.sockets}, {rest.threads}"],
        [f"private memory at {minute.seconds:.0f} s", _memory(minute)],
        [f"at the end ({mixed.samples[-1].seconds:.0f} s)", _memory(mixed.samples[-1])],
        ["once all sessions timed out", f"{rest.private / MB:.0f} MB"],
        [
            f"growth beside the caches after minute {mixed.settled / _MINUTE:g}",
            "too short to tell" if growth is None else f"{growth:+.2f} MB per minute",
        ],
    ]
    return table(["figure", "value"], rows)


def problems(mixed: Mixed, total: Tally, bars: Bars) -> list[str]:
    """Problems: what leaked, stalled, differed, or failed without a cause."""
    rest, probed, growth = mixed.rest, mixed.probed, mixed.growth
    found = [f"unnamed: {reason}" for reason in sorted(set(total.unnamed))]
    found += [f"the server's log: {line}" for line in mixed.faults]
    found += [f"tokenize: {reason}" for reason in sorted(set(probed.failures))]
    if bars.compared:
        found += [f"another reply: {what}" for what in sorted(set(total.different))]
        found += [f"another reply alone: {what}" for what in mixed.unlike]
    if not total.finished or not total.broken:
        found.append("no reply was finished, or none was left in the middle: let it run longer")
    longest = max(total.first, total.silence)
    if longest > bars.stall:
        found.append(f"a stream was silent for {longest:.1f} s")
    if probed.percentile_ms(99) > bars.tokenize:
        found.append(f"tokenize took {probed.percentile_ms(99):.1f} ms (p99)")
    if rest.running or rest.waiting:
        found.append(f"{rest.running} generations run and {rest.waiting} wait for nobody")
    if rest.reserved:
        found.append(f"{rest.reserved} bytes of cache belong to sessions that nobody has")
    if rest.sockets:
        found.append(f"{rest.sockets} connections are open")
    if growth is not None and growth > bars.growth:
        found.append(f"memory grows by {growth:.2f} MB per minute")
    return found


def _memory(sample: Sample) -> str:
    return f"{sample.private / MB:.0f} MB, {sample.caches / MB:.0f} MB of them caches"
