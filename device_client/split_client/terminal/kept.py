"""What a server keeps of a chat, and what was deleted of it, in words."""

from __future__ import annotations

from split_client.api import Forgotten, Purged, ServerCache
from split_client.terminal.output.words import counted, duration, size
from split_wire.tiers import Cache

NOT_KEPT = "It is asked to keep nothing of this chat after it ends (--server-cache off)."
_THE_TEXT = "found by this user's sessions alone; they are the text to it."
_INT8 = (
    "They are kept as whole numbers of 8 bits: what comes back differs a little from what was "
    "computed, which ≈ says under each reply that stands on it."
)
_NO_INT8 = "It was asked for int8 and keeps what is exact alone, as without."
_APPROXIMATE = (
    "What lies behind an edit moves to its new place, and files and paragraphs that it knows from "
    "other chats of yours are taken; neither is computed anew: such replies are approximate, which "
    "≈ says under each, and are kept for no chat that is exact."
)
_NO_APPROXIMATE = (
    "It was asked for approximate and computes anew what lies behind an edit, as without."
)
_UNSAID = (
    "Keys and values of this chat may stay with it after the chat ends; it does not say for how "
    "long or where. They are the text to it."
)


def kept_lines(kept: ServerCache | None, asked: Cache = "exact") -> list[str]:
    """What ``kept`` says of a chat that was ``asked`` to be kept so; None: the server says
    nothing.
    """
    if kept is None:
        return [_UNSAID]
    if not kept.reuse:
        return ["It says that it keeps nothing of a chat once its session has ended."]
    lines = [
        "Keys and values of this chat may stay in its memory after the chat ends, until nobody "
        f"used them for {duration(kept.ttl_seconds)}, {_THE_TEXT}"
    ]
    if asked == "int8":
        lines.append(_INT8 if "int8" in kept.tiers else _NO_INT8)
    if asked == "approximate":
        lines.append(_APPROXIMATE if "approximate" in kept.tiers else _NO_APPROXIMATE)
    where = [f"{size(kept.bytes)} in memory"]
    if kept.disk is not None:
        lines.append(f"On its disk they may stay for {duration(kept.disk.ttl_seconds)}, encrypted.")
        where.append(f"{size(kept.disk.bytes)} on disk")
    lines.append(
        f"Of all your chats it keeps {' and '.join(where)} now. /forget deletes what it keeps of "
        "this one, --server-cache off asks it to keep nothing."
    )
    return lines


def forgotten_line(done: Forgotten) -> str:
    """What became of what was kept of a chat."""
    if not done.positions:
        found = "the server keeps nothing of this chat that was found"
    elif done.left >= done.positions:
        found = (
            f"the server still has {counted(done.left, 'token')} of this chat: other chats go on "
            "from them, or it cannot delete"
        )
    else:
        found = f"the server deleted {counted(done.positions - done.left, 'token')} of this chat"
        if done.left:
            found += f"; {done.left:,} stay, because other chats begin with them"
    if done.earlier:
        return found
    return f"{found}; what earlier sessions of it left could not be asked for"


def purged_line(done: Purged | None) -> str:
    """What became of all that was kept of a user."""
    if done is None:
        return "this server does not offer to delete all that it keeps; /forget asks for this chat"
    if not done.runs:
        return "the server keeps nothing of your chats any more"
    return f"the server deleted {size(done.bytes)} that it kept of your chats"
