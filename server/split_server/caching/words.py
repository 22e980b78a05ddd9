"""What a server keeps, what was deleted of it and how a check ended, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from split_settings.visible import visible

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_WAY = "{:>6}  {:>6}  {:<7}{:>9}  {:>7}  {:>10}  {}"


def listed(url: str, figures: dict[str, Any]) -> Iterator[str]:
    """Of the document behind ``GET /api/v1/cache``."""
    yield url
    if figures["reuse"] == "off":
        yield "  nothing is kept for later sessions"
    pinned = figures["pinned_bytes"]
    yield (
        f"  memory: {_count(figures['runs'], 'run')}, {_size(figures['bytes'])} of at most "
        f"{_size(figures['limit_bytes'])}" + (f", {_size(pinned)} of it pinned" if pinned else "")
    )
    if figures["ttl_seconds"]:
        yield f"  goes after {_seconds(figures['ttl_seconds'])} without use"
    disk = figures["disk"]
    if disk is not None:
        yield (
            f"  disk: {_count(disk['files'], 'file')}, {_size(disk['bytes'])}; "
            f"all together at most {_size(disk['limit_bytes'])}, "
            f"for {_seconds(disk['ttl_seconds'])} without use"
        )


def purged(freed: dict[str, Any]) -> Iterator[str]:
    """Of the answer to ``DELETE /api/v1/cache``."""
    yield f"deleted {_count(freed['runs'], 'run')}, {_size(freed['bytes'])}"


def verified(found: dict[str, Any]) -> Iterator[str]:
    """A row for each way of each prompt of ``POST /v1/cache/verify``, then the verdict."""
    yield _WAY.format("prompt", "tokens", "way", "reused", "of", "difference", "tokens equal")
    for number, prompt in enumerate(found["prompts"], 1):
        for way in prompt["ways"]:
            size = way["difference"]
            yield _WAY.format(
                number,
                prompt["tokens"],
                visible(str(way["way"])),
                way["reused"],
                way["positions"],
                "-" if size is None else f"{size:.2g}",
                "yes" if way["tokens_equal"] else "no",
            )
    for problem in found["problems"]:
        yield visible(str(problem))
    bound = f"{visible(str(found['dtype']))}, bound {found['bound']:g}"
    yield f"{'ok' if found['ok'] else 'not ok'} ({bound})"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _size(size: float) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} bytes"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s"
