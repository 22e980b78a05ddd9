"""``split-server status``: the running servers of this user, in words and as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from split_server.serving.presence import SECONDS
from split_settings.visible import visible

# A server that has not said anything for so long is stopped or cannot go on.
_SILENT_SECONDS = 6 * SECONDS
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def document(servers: Sequence[dict[str, Any]]) -> str:
    """All that is known, as one JSON document."""
    return json.dumps({"servers": list(servers)})


def lines(servers: Sequence[dict[str, Any]], now: float) -> Iterator[str]:
    """A few lines for each server; ``now`` in seconds since the epoch."""
    if not servers:
        yield "no server of this user runs; split-server serve starts one"
    for server in servers:
        urls = ", ".join(visible(str(url)) for url in server["urls"])
        yield f"{urls or server['kind']}"
        yield f"  {server['kind']}, pid {server['pid']}, up {_span(now - server['started'])}"
        yield f"  {visible(server['serves'])}"
        yield from _models(server.get("models"))
        yield f"  {server['sessions']} of {server['most_sessions']} sessions"
        if server["memory"] is not None:
            yield from _memory(server["memory"])
        silent = now - server["updated"]
        if silent > _SILENT_SECONDS:
            yield f"  silent for {_span(silent)}: it is stopped, or cannot go on; see its log"


def _models(states: Any) -> Iterator[str]:
    """A line of a server that has several."""
    if isinstance(states, dict):
        told = ", ".join(f"{visible(str(name))} {visible(str(states[name]))}" for name in states)
        yield f"  models: {told}"


def _memory(report: dict[str, Any]) -> Iterator[str]:
    """The figures of the report that it has."""
    held, caches, limit = (_part(report, name) for name in ("held", "caches", "limit"))
    if held or caches:
        yield (
            f"  memory {_size(held, 'private')}, of it caches {_size(held, 'caches')}; "
            f"set aside {_size(caches, 'reserved')} of {_size(caches, 'budget')}"
        )
    if limit:
        yield f"  free {_size(limit, 'free')} ({visible(str(limit.get('source')))})"


def _part(report: dict[str, Any], name: str) -> dict[str, Any]:
    part = report.get(name)
    return part if isinstance(part, dict) else {}


def _size(part: dict[str, Any], name: str) -> str:
    value = part.get(name)
    if not isinstance(value, int | float):
        return "?"
    return f"{value / 1e9:.1f} GB" if value >= 1e9 else f"{value / 1e6:.1f} MB"


def _span(seconds: float) -> str:
    """The two largest units: ``2 h 5 min``."""
    rest = max(0, int(seconds))
    parts: list[str] = []
    for unit, name in _UNITS:
        count, rest = divmod(rest, unit)
        if count or (unit == 1 and not parts):
            parts.append(f"{count} {name}")
    return " ".join(parts[:2])
