"""Which units of a chat are dropped so that the rest fits: by age, by brightness, or all that are
not pinned.

The system message, the first message and the last turn are immune, and so is what is pinned. Units
go until the rest has about three quarters of the budget: a cut has everything behind it sent again,
so that many small ones would cost more than a large one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from split_client.chat.context.travelling import turns_of
from split_client.chat.context.units import Unit, units_of
from split_client.chat.message import Message, Range

Policy: TypeAlias = Literal["ask", "oldest", "dimmest", "pinned"]
Chat: TypeAlias = tuple[Message, ...]
Place: TypeAlias = tuple[int, Unit]
"""The number of a message, from 0, and one of its units."""

POLICIES: Final[tuple[Policy, ...]] = ("ask", "oldest", "dimmest", "pinned")
_KEPT: Final = 3, 4


@dataclass(frozen=True, slots=True)
class Pruned:
    """``chat`` with more dropped: ``units`` of them, so that ``tokens`` are left of ``before``."""

    chat: Chat
    units: int
    before: int
    tokens: int

    @property
    def freed(self) -> int:
        """Tokens."""
        return self.before - self.tokens


def target_of(budget: int) -> int:
    """Tokens that pruning leaves of a budget."""
    return budget * _KEPT[0] // _KEPT[1]


def candidates(chat: Sequence[Message]) -> list[Place]:
    """What a policy may drop, the oldest first."""
    immune = set(_immune(chat))
    return [
        (index, unit)
        for index, message in enumerate(chat)
        if index not in immune and not message.pinned
        for unit in left_of(message)
    ]


def left_of(message: Message) -> Iterator[Unit]:
    """Its units of which something travels, in order."""
    for unit in units_of(message):
        before = bisect_right(message.dropped, (unit.start, len(message.content))) - 1
        if before < 0 or message.dropped[before][1] < unit.stop:
            yield unit


def pruned(
    chat: Chat,
    order: Iterable[Place],
    count: Callable[[Chat], int],
    tokens: Callable[[str], int],
    target: int,
    before: int,
) -> Pruned:
    """``chat``, of ``before`` tokens, without the first units of ``order``, until ``count`` of it
    is at most ``target``, or none is left. ``tokens``: about how many a text has.
    """
    waiting, now, left, units, times = iter(order), chat, before, 0, 1
    # Tokens that are counted one unit at a time are not quite those of the whole, and a mark that
    # stays has some as well. Twice as many go each time, so that there are few rounds.
    while left > target and (taken := list(_enough(now, waiting, tokens, times * (left - target)))):
        now, units, times = without(now, taken), units + len(taken), 2 * times
        left = count(now)
    return Pruned(now, units, before, left)


def without(chat: Chat, places: Iterable[Place]) -> Chat:
    """``chat`` with ``places`` dropped as well."""
    more = dict[int, list[Range]]()
    for index, unit in places:
        more.setdefault(index, []).append(unit.range)
    return tuple(
        replace(message, dropped=joined((*message.dropped, *more[index])))
        if index in more
        else message
        for index, message in enumerate(chat)
    )


def joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same places, in order and apart."""
    made = list[Range]()
    for start, stop in sorted(ranges):
        if made and start <= made[-1][1]:
            made[-1] = made[-1][0], max(stop, made[-1][1])
        else:
            made.append((start, stop))
    return tuple(made)


def _enough(
    chat: Chat, waiting: Iterator[Place], tokens: Callable[[str], int], wanted: int
) -> Iterator[Place]:
    while wanted > 0 and (place := next(waiting, None)) is not None:
        index, unit = place
        yield place
        wanted -= tokens(chat[index].content[unit.start : unit.stop])


def _immune(chat: Sequence[Message]) -> Iterator[int]:
    turns, at = list(turns_of(chat)), 0
    first = next((index for index, message in enumerate(chat) if message.role == "user"), None)
    for number, turn in enumerate(turns):
        for message in turn:
            if message.role == "system" or at == first or number == len(turns) - 1:
                yield at
            at += 1
