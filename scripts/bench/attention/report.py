"""Tables of what attention costs, beside the bars and beside what the specification reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scripts.bench.attention.rounds import Cost, Round
from scripts.bench.report import median, spread, table

# KoboldCPP binary attention streaming specification: per token of 512, of [28, 28, 2000] weights,
# what a browser spends on buffers, JSON and base64.
_SPECIFIED_MS = 125.4
_SPECIFIED_SOURCE = "KoboldCPP binary attention streaming specification"
_SPECIFIED_ROWS = "6.9 MB of rows, 9 MB sent"
_MOST_CPU_MS = 0.5
_CPU_CONTEXT = 1000
# Largest ratio up to a context.
_MOST_RATIO = ((1000, 1.05), (2000, 1.15))


def costs(rounds: Mapping[int, Sequence[Round]], shape: str) -> str:
    """A row for each context and form."""
    head = [
        "context",
        "attention",
        "ms per token",
        "/ without",
        "overhead per token",
        "extra CPU of the server per token",
        "bytes per token",
        "bar",
    ]
    rows: list[list[str]] = []
    for context, done in rounds.items():
        plain = [one.plain for one in done]
        rows.append([f"{context:,}", "none", _ms(plain), "", "", "", _size(plain), ""])
        binary = _pairs([(one.plain, one.binary) for one in done])
        events = _pairs([(one.plain_events, one.events) for one in done])
        rows.append([f"{context:,}", "binary socket", *binary, _bar(context, done, shape)])
        rows.append([f"{context:,}", "base64 in SSE", *events, ""])
    return table(head, rows)


def beside_specification(rounds: Mapping[int, Sequence[Round]]) -> str:
    """The overhead of attention per token, here and in the specification."""
    rows = [[f"{_SPECIFIED_SOURCE}: base64 in SSE", _SPECIFIED_ROWS, f"{_SPECIFIED_MS} ms", ""]]
    for context, done in rounds.items():
        for name, pairs in (
            ("base64 in SSE", [(one.plain_events, one.events) for one in done]),
            ("binary socket", [(one.plain, one.binary) for one in done]),
        ):
            added = median([with_.ms - without.ms for without, with_ in pairs])
            size = median([with_.size for _, with_ in pairs])
            share = f"{added / _SPECIFIED_MS:.1%}"
            row = [f"here, context {context:,}: {name}", f"{size / 1e6:.2f} MB sent"]
            rows.append([*row, f"{added:.2f} ms", share])
    return table(["form", "size of a token", "overhead per token", "of the specification's"], rows)


def _pairs(pairs: Sequence[tuple[Cost, Cost]]) -> list[str]:
    """Cells of one form, each round against the same round without attention."""
    return [
        _ms([with_ for _, with_ in pairs]),
        spread([with_.ms / without.ms for without, with_ in pairs], "x", 3),
        spread([with_.ms - without.ms for without, with_ in pairs], "ms", 3),
        spread([with_.cpu_ms - without.cpu_ms for without, with_ in pairs], "ms", 3),
        _size([with_ for _, with_ in pairs]),
    ]


def _ms(costs: Sequence[Cost]) -> str:
    return spread([one.ms for one in costs], "ms", 3)


def _size(costs: Sequence[Cost]) -> str:
    return f"{median([one.size for one in costs]):,.0f}"


def _bar(context: int, done: Sequence[Round], shape: str) -> str:
    """Whether the binary socket is as cheap as it has to be."""
    if shape == "embedded":
        extra = median([one.binary.cpu_ms - one.plain.cpu_ms for one in done])
        return _verdict(extra, _MOST_CPU_MS, " ms CPU") if context == _CPU_CONTEXT else ""
    most = next((ratio for limit, ratio in _MOST_RATIO if context <= limit), None)
    if shape != "m" or most is None:
        return ""
    return _verdict(median([one.binary.ms / one.plain.ms for one in done]), most, "x")


def _verdict(value: float, most: float, unit: str) -> str:
    return f"{'met' if value <= most else 'missed'} (at most {most:g}{unit})"
