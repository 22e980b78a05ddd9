"""A message that says something else."""

from __future__ import annotations

from dataclasses import replace

from split_client.chat.brightness.runs import amended
from split_client.chat.context.amending import still_dropped
from split_client.chat.message import Message


def amended_message(message: Message, content: str) -> Message:
    """``message`` with another ``content``: what both begin with stays dropped, and as bright as it
    was.
    """
    return replace(
        message,
        content=content,
        dropped=still_dropped(message.dropped, message.content, content),
        brightness=amended(message.brightness, message.content, content),
    )
