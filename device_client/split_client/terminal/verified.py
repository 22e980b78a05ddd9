"""What was found of approximate replies that were computed plainly as well, in words."""

from __future__ import annotations

from split_client.api import Record, Verified
from split_client.terminal.output.words import counted


def verified_line(found: Verified) -> str:
    """Of one reply."""
    told = f"verified: KL {found.kl:.1g} nats a token, {found.largest:.1g} at most, "
    if found.first is None:
        told += f"the same {counted(found.tokens, 'token')} likeliest"
    else:
        told += f"another token likeliest from {found.first + 1} of {found.tokens} on"
    if not found.passed:
        told += "; that is too far off, so the next reply is computed as a whole"
    return told


def record_lines(record: Record) -> list[str]:
    """Of all replies so far; none before the first one."""
    if not record.passed and not record.failed and not record.unfinished:
        return []
    told = f"verified replies: {record.passed:,} near, {record.failed:,} too far off"
    if record.unfinished:
        told += f", {record.unfinished:,} could not be"
    if record.stopped("moved"):
        told += "; nothing is moved behind edits any more"
    if record.stopped("documents"):
        told += "; nothing of other texts is taken any more"
    return [told]
