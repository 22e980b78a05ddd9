"""Numbers as people read them."""

from __future__ import annotations

from split_client.api import ClientStats, MaskStats
from split_client.chat.context.fill import Fill
from split_client.chat.reply import Reply, ReplyStats
from split_client.generation.speculation.wanted import Drafts
from split_client.terminal.output.sanitise import one_line
from split_client.transport.channel import Loading

_UNITS = ("B", "kB", "MB", "GB", "TB")
_REASONS = {
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


def duration(value: float) -> str:
    """``12 s``, ``3 min``, ``1.5 h``: of what is not known exactly."""
    if value < 90:
        return f"{max(1, round(value))} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"


def loading_line(notice: Loading) -> str:
    """What a wait for a model is for, and about how long it may be."""
    return (
        f"{one_line(notice.reason.partition('; ')[0], 120)}, about {duration(notice.delay)}; it "
        "goes on by itself, Ctrl-C stops"
    )


def total_of(fill: Fill) -> str:
    """Tokens of a chat, with a sign where they are not counted."""
    return f"{'' if fill.exact else '≈'}{fill.total:,}"


def counted(count: int, thing: str) -> str:
    """``1 message``, ``2 messages``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def traffic_line(stats: ClientStats) -> str:
    """The traffic so far, on one line."""
    if not stats.exchanges:
        return "no exchanges yet"
    over = f" over {stats.transport}" if stats.transport else ""
    return (
        f"up {size(stats.bytes_up)}, down {size(stats.bytes_down)} "
        f"in {counted(stats.exchanges, 'exchange')}{over}, {counted(stats.reconnects, 'reconnect')}"
    )


def masks_line(masks: MaskStats) -> str:
    """What one-time masks did, on one line."""
    told = (
        f"masks: {masks.used:,} of {counted(masks.used + masks.encrypted, 'token')} had one, "
        f"{masks.ready:,} ready; {masks.made:,} made, {masks.lost:,} never used"
    )
    return f"{told}; none is being made: {one_line(masks.reason, 200)}" if masks.reason else told


def cut_line(max_tokens: int) -> str:
    """The reason why a reply ends in the middle."""
    return f"cut at --max-tokens {max_tokens}"


def ahead_words(stats: ReplyStats) -> str:
    """What drafts and forced tokens made of the round trips; empty where there were none."""
    if not stats.drafted and not stats.forced:
        return ""
    told = f" in {counted(stats.round_trips, 'round trip')}"
    if stats.drafted:
        told += f", {stats.accepted:,} of {stats.drafted:,} drafted right"
    return f"{told}, {stats.forced:,} forced" if stats.forced else told


def fewer_drafts_line(wanted: Drafts, most: int) -> str | None:
    """Where a server's steps hold fewer drafts than are wanted; None where they hold them."""
    if not isinstance(wanted, int) or wanted <= most:
        return None
    return f"drafts have {most} tokens at most, not {wanted}: this server's steps hold no more"


def _prompt_words(stats: ReplyStats) -> list[str]:
    """What of a prompt was there: with a sign before it where that is not what computing gives."""
    inexact, restored = stats.prompt_tiers.total, stats.prompt_restored
    of = f"of {stats.prompt_tokens:,} prompt tokens"
    if stats.prompt_documents:
        known, anew = stats.prompt_moved, stats.prompt_mended
        return [f"≈{known:,} {of} known from other texts, {anew:,} computed anew"]
    if stats.prompt_moved:
        return [f"≈{stats.prompt_moved:,} {of} moved, {stats.prompt_mended:,} computed anew"]
    if stats.edits_refused:
        return ["edit not taken, all behind it computed"]
    if restored:
        return [f"{'≈' if inexact else ''}{restored:,} {of} restored"]
    return [f"≈{inexact:,} {of} held"] if inexact else []


def status_line(
    reply: Reply, max_tokens: int, seen: str = "", hint: str = "", context: str = ""
) -> str:
    """The costs of a reply of at most ``max_tokens``, on one line; ``seen``: what of the chat it
    did not see; ``hint``: what can be done about one that was cut or stopped; ``context``: how full
    that is, in place of the traffic.
    """
    stats = reply.stats
    nothing = "nothing more" if reply.beginning else "no reply"
    parts = [f"TTFT {seconds(stats.ttft)}" if stats.tokens else nothing]
    if stats.tokens_per_second:
        parts.append(f"{stats.tokens_per_second:.1f} tok/s")
    parts.append(counted(stats.tokens, "token") + ahead_words(stats))
    parts += [*_prompt_words(stats), *filter(None, [seen])]
    parts.append(context or f"up {size(stats.bytes_up)}, down {size(stats.bytes_down)}")
    if reply.finish_reason == "length":
        parts.append(cut_line(max_tokens))
    reason = _REASONS.get(reply.finish_reason or "")
    if reason:
        parts.append(reason)
    if hint and reply.token_ids and reply.finish_reason in ("length", "cancelled"):
        parts.append(hint)
    return " · ".join(parts)
