"""Numbers as people read them."""

from __future__ import annotations

from split_client.reply import Reply

_UNITS = ("B", "kB", "MB", "GB", "TB")
_REASONS = {
    "length": "cut at --max-tokens",
    "context": "the context is full",
    "cancelled": "stopped",
}


def size(count: int) -> str:
    """Bytes in decimal units: ``640 B``, ``12.3 kB``."""
    value = float(count)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def seconds(value: float) -> str:
    """``85 ms`` below a second, else ``1.24 s``."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def status_line(reply: Reply) -> str:
    """What a reply cost, on one line."""
    stats = reply.stats
    parts = [f"TTFT {seconds(stats.ttft)}" if stats.tokens else "no reply"]
    if stats.tokens_per_second:
        parts.append(f"{stats.tokens_per_second:.1f} tok/s")
    parts.append("1 token" if stats.tokens == 1 else f"{stats.tokens} tokens")
    parts.append(f"up {size(stats.bytes_up)}, down {size(stats.bytes_down)}")
    reason = _REASONS.get(reply.finish_reason or "")
    if reason:
        parts.append(reason)
    return " · ".join(parts)
