"""The tables of the step benchmark from its figures."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.bench.report import median, spread, table
from scripts.bench.step.bars import bars
from scripts.bench.step.figures import (
    CLOCKS,
    Figures,
    bandwidth,
    bytes_of,
    has,
    laps,
    ratios,
    series,
)
from scripts.bench.step.programs import INT4, INT8, OURS, PLAIN, STOCK, llama_name
from scripts.bench.step.rounds import BUSY, PREFILL

# What is set against what, where both took part; the other commit is added.
_PAIRS = (
    (OURS, STOCK),
    (PLAIN, OURS),
    (INT8, OURS),
    (OURS, llama_name("f16")),
    (OURS, llama_name("bf16")),
    (INT8, llama_name("q8_0")),
    (INT4, INT8),
    (INT4, llama_name("q4_0")),
    (INT4, llama_name("q4_K")),
)


def report(runs: Sequence[Figures]) -> str:
    """All tables, as Markdown: those of each number of threads, then the bars."""
    return "\n".join([*(part for figures in runs for part in _parts(figures)), bars(runs)])


def _parts(figures: Figures) -> list[str]:
    parts = [_introduction(figures), _pages_table(figures)]
    for clock in CLOCKS:
        parts += [_times_table(figures, clock), _ratio_table(figures, clock)]
    if _done(figures, BUSY):
        parts.append(_busy_table(figures))
    if has(figures, OURS, "bandwidth"):
        if len(figures["contexts"]) > 1:
            parts.append(_growth_table(figures))
        parts.append(_roofline_table(figures))
    return parts


def _introduction(figures: Figures) -> str:
    threads = figures["threads"]
    cosines = ", ".join(f"{name} {value:.5f}" for name, value in figures["cosines"].items())
    kept = ", ".join(
        f"{name}: {facts['linears']}"
        for name, facts in figures["facts"].items()
        if "linears" in facts
    )
    peers = "".join(
        f" llama-cpp-python {facts['version']}, {facts['features']}; head of 32 rows."
        for facts in list(_peer_facts(figures))[:1]
    )
    return (
        f"**{threads} thread{'s' * (threads > 1)}.** {len(figures['rounds'])} rounds in turn, "
        f"{figures['steps']} steps each. Least cosine of hidden states with the stock model: "
        f"{cosines}. Linear layers: {kept}.{peers}\n"
    )


def _peer_facts(figures: Figures) -> list[dict[str, str]]:
    return [facts for facts in figures["facts"].values() if "features" in facts]


def _pages_table(figures: Figures) -> str:
    rows = [
        [
            name,
            f"{pages['anonymous'] / 1e6:.0f} MB",
            f"{pages['huge'] / 1e6:.0f} MB",
            f"{pages['mapped'] / 1e6:.0f} MB",
        ]
        for name, pages in figures["pages"].items()
    ]
    return table(["memory of", "anonymous", "of it on huge pages", "of files"], rows)


def _times_table(figures: Figures, clock: str) -> str:
    columns = _columns(figures)
    rows = []
    for name in _names(figures):
        cells = (_time(figures, name, work, clock) for work in columns)
        rows.append([name, *cells])
    return table([f"{CLOCKS[clock]}, ms: median (least)", *columns.values()], rows)


def _time(figures: Figures, name: str, work: str, clock: str) -> str:
    if not has(figures, name, work):
        return ""
    least = min(laps(figures, name, work, clock))
    return f"{median(series(figures, name, work, clock)):.1f} ({least:.1f})"


def _ratio_table(figures: Figures, clock: str) -> str:
    columns = _columns(figures)
    others = [(OURS, name) for name in _names(figures) if name.startswith("commit ")]
    rows = []
    for part, whole in (*_PAIRS, *others):
        if {part, whole} <= {*_names(figures)}:
            cells = (_ratio(figures, part, whole, work, clock) for work in columns)
            rows.append([f"{part} / {whole}", *cells])
    return table([f"{CLOCKS[clock]}, ratio", *columns.values()], rows)


def _ratio(figures: Figures, part: str, whole: str, work: str, clock: str) -> str:
    if not (has(figures, part, work) and has(figures, whole, work)):
        return ""
    return spread(ratios(figures, (part, work), (whole, work), clock), "x")


def _busy_table(figures: Figures) -> str:
    quiet = f"context {figures['contexts'][0]}"
    rows = []
    for name in _done(figures, BUSY):
        both = [laps(figures, name, work) for work in (quiet, BUSY)]
        ratio = median(both[1]) / median(both[0])
        rows.append([name, *(spread(times, "ms", 1) for times in both), f"{ratio:.2f} x"])
    busy = f"beside {figures['busy']} busy processes"
    return table([f"a step, {quiet}", "quiet", busy, "ratio of medians"], rows)


def _growth_table(figures: Figures) -> str:
    short, long = (f"context {figures['contexts'][at]}" for at in (0, -1))
    rows = []
    for name in (OURS, PLAIN, INT8, INT4):
        if has(figures, name, short):
            whole = _differences(figures, name, (short, long), "ms")
            attention = _differences(figures, name, (short, long), "attention_ms")
            rest = [a - b for a, b in zip(whole, attention, strict=True)]
            rows.append([name, *(spread(values, "ms", 1) for values in (whole, attention, rest))])
    if has(figures, STOCK, short):
        whole = _differences(figures, STOCK, (short, long), "ms")
        rows.append([STOCK, spread(whole, "ms", 1), "", ""])
    head = [f"growth from {short} to {long.split()[1]}", "whole step", "attention", "the rest"]
    return table(head, rows)


def _differences(figures: Figures, name: str, works: tuple[str, str], key: str) -> list[float]:
    before, after = (series(figures, name, work, key) for work in works)
    return [b - a for a, b in zip(before, after, strict=True)]


def _roofline_table(figures: Figures) -> str:
    peak = bandwidth(figures)
    rows = []
    for name in (OURS, INT8):
        for context in figures["contexts"] if name in _names(figures) else ():
            size = bytes_of(figures, name, context)
            took = median(series(figures, name, f"context {context}"))
            rate = size / (1e-3 * took)
            rows.append(
                [
                    f"{name}, {context}",
                    f"{size / 1e6:.0f} MB",
                    f"{1e3 * size / peak:.1f} ms",
                    f"{took:.1f} ms",
                    f"{rate / 1e9:.1f} GB/s",
                    f"{rate / peak:.0%}",
                ]
            )
    head = ["step", "reads", "at full bandwidth", "took", "rate", "of the bandwidth"]
    note = f"Read bandwidth of this machine: {peak / 1e9:.1f} GB/s (largest of a float32 vector)."
    return table(head, rows) + "\n" + note + "\n"


def _names(figures: Figures) -> list[str]:
    """The programs that were timed, in the order in which they were started."""
    return [name for name in figures["pages"] if name in figures["rounds"][0]]


def _done(figures: Figures, work: str) -> list[str]:
    return [name for name in _names(figures) if has(figures, name, work)]


def _columns(figures: Figures) -> dict[str, str]:
    """What the columns are headed, by the works of a quiet machine."""
    first = figures["contexts"][0]
    found = {f"context {each}": f"1 session at {each}" for each in figures["contexts"]}
    for count in figures["sessions"]:
        if count > 1:
            found[f"sessions {count}"] = f"{count} sessions at {first}"
    if figures["prefill"]:
        found[PREFILL] = f"prefill of {figures['prefill']}"
    return found
