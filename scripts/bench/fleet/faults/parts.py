"""What a device did while it had no token: the parts of a gap, which sum up to it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import ParamSpec, TypeAlias, TypeVar

from split_client.api import SplitClient
from split_client.transport.channel import Channel
from split_wire.codec import decode_server_message
from split_wire.errors import SplitError
from split_wire.messages import Opened

# Bytes of the answer to an opening; a longer one is no such answer.
_MOST = 1 << 16

Span: TypeAlias = tuple[float, float]
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Parts:
    """Seconds. ``notice``: from the token before until the device knew of the loss, ``wait``: that
    it paused before it came back, ``connect``: to the balancer, ``open``: a frame that the next
    replica refused, and a session there, ``replay``: the conversation, and the next token.
    """

    notice: float = 0.0
    wait: float = 0.0
    connect: float = 0.0
    open: float = 0.0
    replay: float = 0.0

    @property
    def gap(self) -> float:
        """All of it."""
        return sum(self.each())

    def each(self) -> list[float]:
        """The parts in their order."""
        return [getattr(self, name) for name in NAMES]


NAMES = tuple(one.name for one in fields(Parts))


@dataclass(slots=True)
class Watch:
    """Moments of one device by the monotonic clock: its pauses, its attempts to connect, and when
    sessions were open.
    """

    pauses: list[Span] = field(default_factory=list)
    connects: list[Span] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)

    def pausing(self, client: SplitClient) -> None:
        """Note the pauses of ``client``, which is not connected yet."""
        pause = _spanned(client._hooks.pause, self.pauses)
        client._hooks = replace(client._hooks, pause=pause)

    def connecting(self, channel: Channel) -> None:
        """Note what comes about on ``channel``."""
        carriers, exchange = channel._carriers, channel.exchange
        carriers.open = _spanned(carriers.open, self.connects)  # type: ignore[method-assign]

        def exchanged(*frames: bytes) -> bytes:
            answer = exchange(*frames)
            if _opens(answer):
                self.opened.append(time.monotonic())
            return answer

        channel.exchange = exchanged  # type: ignore[method-assign]

    def parts(self, since: float, until: float) -> Parts:
        """Those of a gap from one token to the next."""
        pauses, connects = (_within(one, since, until) for one in (self.pauses, self.connects))
        noticed = min((begin for begin, _ in [*pauses, *connects]), default=since)
        opened = max((at for at in self.opened if noticed < at < until), default=noticed)
        wait, connect = _sum(pauses), _sum(connects)
        # An attempt to connect holds no pause, and neither overlaps with the other.
        before = _sum(_within([*pauses, *connects], noticed, opened))
        opening = opened - noticed - before
        rest = until - since - (noticed - since) - wait - connect - opening
        return Parts(noticed - since, wait, connect, opening, rest)


def middle(found: Sequence[Parts], median: Callable[[Sequence[float]], float]) -> list[float]:
    """The median of each part."""
    return [median(each) for each in zip(*(one.each() for one in found), strict=True)]


def longest(times: Sequence[Sequence[float]], since: float, until: float) -> Span | None:
    """The two tokens of one reply with the longest time between them that overlaps the time from
    ``since`` to ``until``, ``times``: of each reply; None where no reply was being made then.
    """
    gaps = [
        (before, after)
        for each in times
        for before, after in itertools.pairwise([*each])
        if after > since and before < until
    ]
    return max(gaps, key=lambda gap: gap[1] - gap[0], default=None)


def _spanned(call: Callable[_P, _R], spans: list[Span]) -> Callable[_P, _R]:
    def spanned(*args: _P.args, **named: _P.kwargs) -> _R:
        began = time.monotonic()
        try:
            return call(*args, **named)
        finally:
            spans.append((began, time.monotonic()))

    return spanned


def _opens(answer: bytes) -> bool:
    if len(answer) > _MOST:
        return False
    with suppress(SplitError):
        return isinstance(decode_server_message(answer, _MOST), Opened)
    return False


def _within(spans: Sequence[Span], since: float, until: float) -> list[Span]:
    """What of ``spans`` lies there."""
    cut = [(max(begin, since), min(end, until)) for begin, end in [*spans]]
    return [(begin, end) for begin, end in cut if end > begin]


def _sum(spans: Sequence[Span]) -> float:
    return sum(end - begin for begin, end in spans)
