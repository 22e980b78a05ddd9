"""The tables of a siege by hostile messages, and what of it must not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.bench.hostile.chat import Chatted
from scripts.bench.hostile.messages import Kind
from scripts.bench.process_memory import MB
from scripts.bench.report import counted, heading, table

_MOST_CODES = 12


@dataclass(frozen=True, slots=True)
class Siege:
    """``answers`` by kind; ``lasted``, ``pings`` and ``late`` (how long the watchdog itself waited
    for a processor) in seconds; ``private``: bytes beside the K/V buffers before, at the end and
    when all sessions had timed out; ``exit_status`` None: the server lives.
    """

    answers: Mapping[Kind, Mapping[str, Any]]
    lasted: float
    pings: Sequence[float]
    late: float
    ping_failures: Sequence[str]
    chatted: Chatted
    private: tuple[int, int, int]
    sessions: int
    sockets: int
    faults: Sequence[str]
    exit_status: int | None

    @property
    def messages(self) -> int:
        """The number of messages sent."""
        return sum(sum(one["codes"].values()) for one in self.answers.values())


def report(siege: Siege, seed: int) -> None:
    """Print the tables."""
    print(heading(f"{siege.messages:,} hostile messages, seed {seed}", "float32"))
    head = ["messages", "sent", "answers", "longest"]
    rows = [
        [kind, f"{sum(one['codes'].values()):,}", _codes(one), f"{one['longest']:.2f} s"]
        for kind, one in siege.answers.items()
    ]
    print(table(head, rows))
    print(table(["figure", "value"], _figures(siege)))


def problems(siege: Siege, hang: float, growth: float) -> list[str]:
    """Problems: what broke, hung, changed, stayed or grew."""
    found = [f"{kind}: {what}" for kind, one in siege.answers.items() for what in one["faults"]]
    found += [f"the server's log: {line}" for line in siege.faults]
    found += [f"the watchdog: {what}" for what in siege.ping_failures]
    found += [f"another reply: {what}" for what in siege.chatted.wrong]
    if siege.exit_status is not None:
        found.append(f"the server ended with status {siege.exit_status}")
    if not siege.chatted.replies or not siege.pings:
        found.append("nobody chatted or nothing was pinged: send more messages")
    if siege.pings and max(siege.pings) > hang:
        found.append(f"a ping took {max(siege.pings):.2f} s")
    if siege.sessions or siege.sockets:
        found.append(f"{siege.sessions} sessions and {siege.sockets} sockets are left")
    grown = (siege.private[2] - siege.private[0]) / MB
    if grown > growth:
        found.append(f"memory has grown by {grown:.1f} MB")
    return found


def _figures(siege: Siege) -> list[list[object]]:
    ordered, private = sorted(siege.pings), [size / MB for size in siege.private]
    pings = [1e3 * ordered[(len(ordered) - 1) * share // 100] for share in (50, 99, 100)]
    return [
        ["internal errors, hangs, crashes", sum(len(o["faults"]) for o in siege.answers.values())],
        ["lasted", f"{siege.lasted:.0f} s, {siege.messages / siege.lasted:.0f} messages a second"],
        [
            f"pings on another connection, {len(ordered):,}",
            "p50 {:.1f} ms, p99 {:.1f} ms, longest {:.1f} ms".format(*pings),
        ],
        ["longest that the watchdog waited for a processor", f"{1e3 * siege.late:.1f} ms"],
        [
            "the chat meanwhile",
            f"{siege.chatted.replies:,} replies, {siege.chatted.tokens:,} tokens, "
            f"{len(siege.chatted.wrong)} other than `generate`",
        ],
        [
            "private memory beside K/V buffers before, at the end, once sessions timed out",
            "{:.1f}, {:.1f}, {:.1f} MB".format(*private),
        ],
        ["sessions, sockets afterwards", f"{siege.sessions}, {siege.sockets}"],
    ]


def _codes(answers: Mapping[str, Any]) -> str:
    codes = answers["codes"].most_common()
    rest = sum(count for _, count in codes[_MOST_CODES:])
    return counted([*codes[:_MOST_CODES], *([("others", rest)] if rest else [])])
