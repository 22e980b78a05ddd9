"""Tables of the encrypted-adapter benchmark."""

from __future__ import annotations

from typing import Any

from scripts.bench.he import coefficients, mm, slots
from scripts.bench.he.inputs import Measured
from scripts.bench.report import median, table

PEERS = (slots, mm)
Run = dict[str, Measured | None]


def report(runs: dict[str, Run]) -> str:
    """Two tables: our stages, and every scheme beside ours; ``runs`` by shape, then scheme."""
    return f"{_stages(runs)}\n{_schemes(runs)}"


def saved(runs: dict[str, Run]) -> dict[str, Any]:
    """All rounds as plain numbers: processor and wall milliseconds, bytes, errors."""
    return {
        shape: {name: None if m is None else vars(m) for name, m in run.items()}
        for shape, run in runs.items()
    }


def _stages(runs: dict[str, Run]) -> str:
    head = [
        "d x r", "set-up", "encrypt", "decrypt", "host, all in", "load", "multiply", "save",
        "a blind (idle)", "up", "down", "key", "error",
    ]  # fmt: skip
    return table(head, [_stage_row(shape, run[coefficients.NAME]) for shape, run in runs.items()])


def _stage_row(shape: str, ours: Measured | None) -> list[str]:
    if ours is None:
        return [shape]
    names = ["encrypt", "decrypt", coefficients.HOST, *coefficients.STAGES, coefficients.REFILL]
    times = [f"{ours.median(name):.2f} ms" for name in names]
    sizes = [f"{ours.sizes[name]:,} B" for name in ("up", "down", "key")]
    set_up = f"{ours.median(*coefficients.SET_UP):.1f} ms"
    return [shape, set_up, *times, *sizes, f"{ours.error:.1e}"]


def _schemes(runs: dict[str, Run]) -> str:
    head = ["d x r", "scheme", "encrypt", "host", "decrypt", "host / ours", "up", "down", "key",
            "error"]  # fmt: skip
    rows = []
    for shape, run in runs.items():
        ours = run[coefficients.NAME]
        for name, measured in run.items():
            if measured is None or ours is None:
                rows.append([shape, name, "not run", *[""] * 7])
            else:
                rows.append([shape, name, *_scheme_row(measured, ours)])
    return table(head, rows)


def _scheme_row(measured: Measured, ours: Measured) -> list[str]:
    times = [f"{measured.median(s):,.2f} ms" for s in ("encrypt", coefficients.HOST, "decrypt")]
    ratio = median(measured.cpu_ms[coefficients.HOST]) / median(ours.cpu_ms[coefficients.HOST])
    sizes = [f"{measured.sizes[name]:,} B" for name in ("up", "down", "key")]
    return [*times, f"{ratio:,.0f} x", *sizes, f"{measured.error:.1e}"]
