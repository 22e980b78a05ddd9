"""The tables of the step benchmark from its figures.

``clock`` is ``ms`` for wall time or ``cpu_ms`` for the processor time of all threads, which other
programs on the machine disturb less.
"""

from __future__ import annotations

from typing import Any

from scripts.bench.report import median, spread, table
from scripts.bench.step.programs import INT8, PACKED, PLAIN, STOCK
from scripts.bench.step.roofline import step_bytes

Figures = dict[str, Any]
_CLOCKS = {"ms": "wall time", "cpu_ms": "processor time"}


def report(figures: Figures) -> str:
    """All tables, as Markdown."""
    parts = [
        _introduction(figures),
        _step_table(figures),
        _growth_table(figures),
        _roofline_table(figures),
    ]
    if _peers(figures):
        parts += [_peer_table(figures, peer) for peer in _peers(figures)]
    return "\n".join(parts)


def series(figures: Figures, name: str, work: str, key: str = "") -> list[float]:
    """One figure of a program in every round; its time when ``key`` is empty."""
    key = key or figures["clock"]
    return [one[name][work][key] for one in figures["rounds"]]


def bandwidth(figures: Figures) -> float:
    """Bytes per second that the machine read in its best round."""
    return max(series(figures, PACKED, "bandwidth", "bytes_per_second"))


def bytes_of(figures: Figures, name: str, context: int) -> int:
    """Bytes that one of our steps reads."""
    facts = figures["facts"][PACKED]
    kind = "int8" if name == INT8 else figures["dtype"]
    return step_bytes(facts["matrix_values"], kind, facts["cache_bytes"], context)


def _introduction(figures: Figures) -> str:
    cosines = ", ".join(f"{name} {value:.5f}" for name, value in figures["cosines"].items())
    return (
        f"{len(figures['rounds'])} rounds in turn, {figures['steps']} steps each, "
        f"{figures['threads']} threads, {_CLOCKS[figures['clock']]}. Least cosine of hidden states "
        f"with the stock model: {cosines}.\n"
    )


def _step_table(figures: Figures) -> str:
    rows = []
    for context in figures["contexts"]:
        work = f"context {context}"
        row = [str(context), spread(series(figures, STOCK, work), "ms", 1)]
        for name in (PLAIN, PACKED, INT8):
            row.append(spread(series(figures, name, work), "ms", 1))
            row.append(_ratio(figures, (name, work), (STOCK, work)))
        rows.append(row)
    head = ["context", STOCK]
    for name in (PLAIN, PACKED, INT8):
        head += [name, "of stock"]
    return table(head, rows)


def _growth_table(figures: Figures) -> str:
    short, long = f"context {figures['contexts'][0]}", f"context {figures['contexts'][-1]}"
    rows = []
    for name in (PLAIN, PACKED, INT8):
        whole = _differences(figures, name, (short, long), figures["clock"])
        attention = _differences(figures, name, (short, long), "attention_ms")
        rest = [a - b for a, b in zip(whole, attention, strict=True)]
        rows.append([name, *(spread(values, "ms", 1) for values in (whole, attention, rest))])
    whole = _differences(figures, STOCK, (short, long), figures["clock"])
    rows.append([STOCK, spread(whole, "ms", 1), "", ""])
    head = [f"growth from {short} to {long.split()[1]}", "whole step", "attention", "the rest"]
    return table(head, rows)


def _differences(figures: Figures, name: str, works: tuple[str, str], key: str) -> list[float]:
    before, after = (series(figures, name, work, key) for work in works)
    return [b - a for a, b in zip(before, after, strict=True)]


def _roofline_table(figures: Figures) -> str:
    peak = bandwidth(figures)
    rows = []
    for name in (PACKED, INT8):
        for context in figures["contexts"]:
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


def _peer_table(figures: Figures, peer: str) -> str:
    first = figures["contexts"][0]
    works = [f"context {first}"]
    works += [f"sessions {count}" for count in figures["sessions"] if count > 1]
    labels = [f"{count} at context {first}" for count in figures["sessions"]]
    works.append("prefill")
    labels.append(f"prefill of {figures['prefill']}")
    rows = []
    for label, work in zip(labels, works, strict=True):
        row = [label, spread(series(figures, peer, work), "ms", 1)]
        for name in (PACKED, INT8):
            row.append(spread(series(figures, name, work), "ms", 1))
            row.append(_ratio(figures, (name, work), (peer, work)))
        rows.append(row)
    facts = figures["facts"][peer]
    note = f"llama-cpp-python {facts['version']}, {facts['features']}; head of 32 rows.\n"
    return table(["pass", peer, PACKED, "ratio", INT8, "ratio"], rows) + "\n" + note


def _peers(figures: Figures) -> list[str]:
    return [name for name in figures["facts"] if name.startswith("llama")]


def _ratio(figures: Figures, part: tuple[str, str], whole: tuple[str, str]) -> str:
    pairs = zip(series(figures, *part), series(figures, *whole), strict=True)
    return spread([a / b for a, b in pairs], "x")
