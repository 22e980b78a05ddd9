"""The order in which the parts of a chat are left out by their brightness.

What the model said counts half: it can be asked for again, what a person said cannot, and replies
look at each other more than at what is to be remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from split_client.chat.brightness.runs import part_of, values_in
from split_client.chat.context.pruning import Place
from split_client.chat.message import Message

_OF_A_REPLY: Final = 2


def dimmest(chat: Sequence[Message], places: Iterable[Place]) -> list[Place]:
    """``places`` of ``chat``, the dimmest first, of equal ones in the order that they have; in it
    where no reply has looked at any.
    """
    places, known = list(places), {}
    if not is_known(chat):
        return places
    for index, _ in places:
        if index not in known:
            message = chat[index]
            known[index] = values_in(message.brightness, len(message.content))

    def brightness(place: Place) -> int:
        index, unit = place
        bright = part_of(known[index], unit.start, unit.stop)
        return bright // _OF_A_REPLY if chat[index].role == "assistant" else bright

    return sorted(places, key=brightness)


def is_known(chat: Iterable[Message]) -> bool:
    """Whether any reply has looked at any of it."""
    return any(message.brightness for message in chat)
