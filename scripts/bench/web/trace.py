"""CPU time of the tasks of a page's main thread, from Chromium's own trace."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CATEGORIES = ["toplevel", "blink.user_timing"]
_TASK = "ThreadControllerImpl::RunTask"


def main_thread_tasks(trace: Path, begin: str, end: str) -> list[float]:
    """Milliseconds of CPU of every task between two marks of the page (``performance.mark``).

    The marks tell which process and thread is the page's, and which part of the trace counts.
    """
    events: list[dict[str, Any]] = json.loads(trace.read_text())["traceEvents"]
    first, last = _mark(events, begin), _mark(events, end)
    thread = (first["pid"], first["tid"])
    return [
        event["tdur"] / 1000
        for event in events
        if event["name"] == _TASK
        and (event["pid"], event["tid"]) == thread
        and first["ts"] <= event["ts"] <= last["ts"]
        and "tdur" in event
    ]


def _mark(events: Iterable[dict[str, Any]], mark: str) -> dict[str, Any]:
    for event in events:
        if event["name"] == mark and "blink.user_timing" in event["cat"]:
            return event
    raise LookupError(f"the trace has no mark {mark!r}")
