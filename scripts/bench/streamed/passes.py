"""A pass whose layers come from disk, over the longer of reading and computing alone."""

from __future__ import annotations

from collections import defaultdict

from scripts.bench.report import heading, spread, table
from scripts.bench.streamed.started import Setting, middle, ours
from scripts.bench.workers import Worker

MANY = 32
_MOST_OF_LONGER, _MOST_OF_ONE = 1.15, 2.0
_Times = dict[tuple[str, int], list[float]]
_LINES = (
    ("reading alone", "read", 1e3, "ms"),
    ("computing alone", "computed", 1e3, "ms"),
    ("a pass", "pass", 1e3, "ms"),
    ("over the longer of both", "ratio", 1.0, "x"),
)


def passes(setting: Setting) -> list[str]:
    """Time them in turn and print the table; what is beyond a bar, or wrong."""
    times: _Times = defaultdict(list)
    with ours(setting, setting.streamed) as streamed, ours(setting, 0) as plain:
        for rows in (1, MANY):
            if streamed.ask(op="open", sessions=rows) != plain.ask(op="open", sessions=rows):
                return [f"the states of {rows} sessions are not those of plain matrices"]
            for _ in range(setting.rounds):
                if not _round(streamed, plain, rows, times):
                    return ["the states of a step are not those of plain matrices"]
    return _told(setting, times)


def _round(streamed: Worker, plain: Worker, rows: int, times: _Times) -> bool:
    """Whether the states are the same."""
    read, computed = streamed.ask(op="read")["seconds"], plain.ask(op="step")
    found = streamed.ask(op="step")
    times["read", rows].append(read)
    times["computed", rows].append(computed["seconds"])
    times["pass", rows].append(found["seconds"])
    times["ratio", rows].append(found["seconds"] / max(read, computed["seconds"]))
    return bool(found["states"] == computed["states"])


def _told(setting: Setting, times: _Times) -> list[str]:
    kept = setting.dtype if setting.quantize == "none" else f"{setting.dtype}, {setting.quantize}"
    print(heading(f"A pass of {setting.streamed} layers on disk, {setting.shape}", kept))
    rows = [
        [name, *(_cell(times[key, count], scale, unit) for count in (1, MANY))]
        for name, key, scale, unit in _LINES
    ]
    print(table(["", "1 session", f"{MANY} sessions"], rows))
    one, many = (middle(times["pass", count]) for count in (1, MANY))
    print(
        f"{MANY} rows take {many / one:.2f} times one row; "
        f"rows/s {1 / one:.1f} and {MANY / many:.1f}.\n"
    )
    problems = [
        f"a pass of {count} rows takes {ratio:.2f} times the longer of reading and computing"
        for count in (1, MANY)
        if (ratio := middle(times["ratio", count])) > _MOST_OF_LONGER
    ]
    if many > _MOST_OF_ONE * one:
        problems.append(f"{MANY} rows take {many / one:.2f} times as long as one")
    return problems


def _cell(values: list[float], scale: float, unit: str) -> str:
    return spread([scale * value for value in values], unit)
