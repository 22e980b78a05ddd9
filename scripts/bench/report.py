"""Tables with everything a reader needs to judge them: date, commit, machine, versions."""

from __future__ import annotations

import datetime
import importlib.metadata
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

_PACKAGES = ("torch", "transformers", "onnxruntime", "numpy", "websockets", "uvicorn")


def heading(title: str, dtype: str) -> str:
    """A dated Markdown heading with commit, machine, dtype and versions."""
    return f"### {title}\n\n{surroundings(dtype, commit())}\n"


def surroundings(dtype: str, of: str) -> str:
    """The line below a heading, on figures of the commit ``of``."""
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return (
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, commit {of}, "
        f"{os.cpu_count()} cores of {_processor()}, {dtype}, "
        f"Python {platform.python_version()}, {versions}."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def spread(values: Sequence[float], unit: str, digits: int = 2) -> str:
    """Median with minimum and maximum."""
    ordered = sorted(values)
    middle = median(ordered)
    low, high = ordered[0], ordered[-1]
    return f"{middle:.{digits}f} {unit} ({low:.{digits}f} to {high:.{digits}f})"


def counted(counts: Iterable[tuple[str, int]]) -> str:
    """The counts as text, each with its name."""
    return ", ".join(f"{count:,} {name}" for name, count in counts)


def finish(problems: Sequence[str]) -> NoReturn:
    """Print them and end the program; its exit status is 1 where there is one."""
    for problem in problems:
        print(f"failed: {problem}")
    raise SystemExit(bool(problems))


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95% interval of the median, by order statistics: ranks n/2 -+ 0.98 sqrt(n)."""
    ordered = sorted(values)
    low = max(0, math.floor(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))))
    return ordered[low], ordered[len(ordered) - 1 - low]


def private_bytes(process: int | str = "self") -> int:
    """RssAnon of a process (Linux, proc(5)): memory that no file backs."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def commit() -> str:
    """The commit of this checkout, with a word on changes that are not in it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    line = next((x for x in info.splitlines() if x.startswith("model name")), ": unknown")
    return line.split(":", 1)[1].strip()
