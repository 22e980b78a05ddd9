"""What of a chat the model is given: its messages without what was dropped of them.

A message of which nothing is left stays as a mark, because templates want the roles of a turn; a
turn of which nothing is left does not travel at all. The turn that is to be answered is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from split_client.chat.message import Message

MARK: Final = "…"


def travelling(messages: Sequence[Message]) -> tuple[Message, ...]:
    """``messages`` as the model is given them; those without anything dropped are the same."""
    return tuple(message for _, message in placed(messages))


def placed(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """The same with the number in the chat of each, from 0."""
    if not any(message.dropped for message in messages):
        return list(enumerate(messages))
    turns, sent, at = list(turns_of(messages)), list[tuple[int, Message]](), 0
    asked = messages[-1].role in ("user", "tool")
    for number, turn in enumerate(turns):
        if asked and number == len(turns) - 1:
            sent += ((at + index, replace(each, dropped=())) for index, each in enumerate(turn))
        elif not all(map(_gone, turn)):
            sent += ((at + index, _sent(each)) for index, each in enumerate(turn))
        at += len(turn)
    return sent


def turns_of(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """The system message, and from each message of the user to the end of what answers it."""
    begun = 0
    for at, message in enumerate(messages):
        starts = message.role == "user" or (at and messages[at - 1].role == "system")
        if starts and at > begun:
            yield tuple(messages[begun:at])
            begun = at
    if begun < len(messages):
        yield tuple(messages[begun:])


def _gone(message: Message) -> bool:
    """Whether it has no text, or none that is left."""
    return not message.content or (bool(message.dropped) and not message.left.strip())


def _sent(message: Message) -> Message:
    if not message.dropped:
        return message
    left = message.left
    return replace(message, content=left if left.strip() else MARK, dropped=(), brightness="")
