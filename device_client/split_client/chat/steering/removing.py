"""A chat without one of its messages."""

from __future__ import annotations

from split_client.chat.message import Message
from split_client.chat.steering.errors import MessageNotRemoved


def without(messages: tuple[Message, ...], index: int) -> tuple[Message, ...]:
    """``messages`` without the one at ``index``, and without the results of its calls.

    Raises MessageNotRemoved for one that is not there, and for the result of a call alone.
    """
    if not 0 <= index < len(messages):
        raise MessageNotRemoved(f"there is no message {index + 1}; there are {len(messages)}")
    gone = messages[index]
    if gone.role == "tool":
        raise MessageNotRemoved("a reply calls for this result; remove the reply, which takes both")
    end = index + 1
    while gone.tool_calls and end < len(messages) and messages[end].role == "tool":
        end += 1
    return (*messages[:index], *messages[end:])
