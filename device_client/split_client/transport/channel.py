"""A channel that keeps working: it connects, falls back, reconnects and sends frames again.

Sending a frame twice is safe because a session answers the same bytes once, however often they
arrive.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from split_client.errors import (
    ClientError,
    ConnectionLost,
    NotASplitServer,
    ServerUnreachable,
    TlsMismatch,
    UpgradeRefused,
)
from split_client.transport.base import Connect, Stream, Traffic, Transport
from split_client.transport.base import Mode as Mode
from split_client.transport.carriers.choice import Carriers
from split_client.transport.routing.route import Holder, Route

# Ray Serve's balancer makes one of 502, 503 and 504.
_STATUS_OF_A_PROXY = 500


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. ``total`` bounds the time from the first loss of a frame to giving up."""

    connect: float = 10.0
    exchange: float = 300.0
    total: float = 120.0
    first_delay: float = 0.1
    longest_delay: float = 5.0

    def delay(self, attempt: int, chance: float) -> float:
        """Exponential, with half of it random so that clients do not come back all at once."""
        longest: float = min(self.longest_delay, self.first_delay * 2.0 ** min(attempt, 30))
        return longest * (0.5 + chance / 2)


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The reason for the channel's wait, for whoever shows it; a frame's first loss is not told."""

    reason: str
    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class Loading(Reconnecting):
    """It waits for the server to read a model into its memory; ``delay``: about how long, said by
    the server, ``attempt`` counts from 0, ``reason`` is the server's own word.
    """


_Lost: TypeAlias = ConnectionLost | ServerUnreachable | UpgradeRefused


class Channel:
    """``connect(kind, timeout)`` makes a transport; ``pause`` waits and may raise Cancelled.
    ``route``: what ``connect`` tells a balancer; None: nothing.
    """

    def __init__(
        self,
        connect: Connect,
        mode: Mode = "auto",
        patience: Patience | None = None,
        *,
        route: Route | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        notify: Callable[[Reconnecting], None] = lambda _: None,
    ) -> None:
        self.patience = patience or Patience()
        self.route = route
        self._carriers = Carriers(connect, mode, self.patience.connect, clock)
        self._clock, self._pause, self._chance, self._notify = clock, pause, chance, notify
        self._transport: Transport | None = None
        self._stream: Stream | None = None
        # Sent on this connection and not answered, in their order.
        self._sent: deque[bytes] = deque()
        # After a loss with several of them, until one is answered: a server that holds back the
        # second meanwhile cannot answer a ping, so that the connection would be lost again.
        self._one_by_one = False
        self._proven = False
        self._lost = False
        self._longest = 0
        self.traffic = Traffic()
        # Connections that came about again, not attempts.
        self.reconnects = 0
        # Connections that there were.
        self.connections = 0

    @property
    def transport_name(self) -> str | None:
        """The name of the transport that carries frames at present."""
        return None if self._transport is None else self._transport.name

    @property
    def streams(self) -> bool:
        """Whether the present connection takes a frame before the one before it is answered."""
        return self._stream is not None

    def post(self, *frames: bytes) -> None:
        """Send those of ``frames`` that are not on their way, over the connection there is; where
        that does not work, :meth:`exchange` of them finds out.
        """
        try:
            if self._stream is not None:
                self._send(self._stream, frames)
        except ClientError:
            self._drop()
            self._lost = True
        except BaseException:
            self._drop()
            raise

    def exchange(self, *frames: bytes) -> bytes:
        """Send those of ``frames`` that are not on their way, again if need be, and return the next
        answer: to the first of them.

        Raises ServerUnreachable or ConnectionLost after ``patience.total``, TlsMismatch and
        ServerRefused at once.
        """
        deadline: float | None = None
        for attempt in range(_MAX_ATTEMPTS):
            try:
                return self._try(frames)
            except TlsMismatch:
                # It would be the same in a minute.
                self._drop()
                raise
            except (ConnectionLost, ServerUnreachable, UpgradeRefused) as error:
                self._drop()
                self._lost |= isinstance(error, ConnectionLost)
                deadline = deadline or self._clock() + self.patience.total
                self._wait(error, attempt, deadline)
            except BaseException:
                # The answer of an interrupted exchange must not be taken for the next one's.
                self._drop()
                raise
        raise ConnectionLost("too many attempts")

    def tell(self, notice: Reconnecting) -> None:
        """Show ``notice`` where the channel shows its own."""
        self._notify(notice)

    def accept(self, max_frame: int) -> None:
        """Let answers have ``max_frame`` bytes where that is more than agreed before."""
        if max_frame > self._longest:
            self._longest = max_frame
            if self._transport is not None:
                self._transport.accept(max_frame)

    def move(self, holder: Holder) -> bool:
        """Go another way with what comes next; whether that was done: not where others than
        ``holder`` have a session at the end of this one.
        """
        if self.route is None or not self.route.is_free(holder):
            return False
        self.reroute(None)
        return True

    def reroute(self, id: str | None) -> None:
        """Connections that are made from here on have the routing id ``id``, or any other. A server
        at another end knows none of the sessions.
        """
        if self.route is not None:
            self.route.change(id)
            self.close()

    def prepare(self) -> bool:
        """Connect unless that is done; whether frames can be posted. What fails, fails again when
        they are exchanged.
        """
        try:
            self._connected()
        except ClientError:
            self._drop()
        return self.streams

    def send_once(self, frame: bytes, timeout: float) -> None:
        """Send a frame whose answer does not matter over the connection there is, if any; a
        WebSocket is not waited for.
        """
        if self._stream is not None:
            self.post(frame)
        elif self._transport is not None:
            try:
                self._transport.exchange(frame, timeout)
            except ClientError:
                self._drop()

    def answer_within(self, frame: bytes, timeout: float) -> bytes | None:
        """The answer to a frame that was posted, None where it does not come in ``timeout`` s."""
        if self._stream is None or not _is_among(frame, self._sent):
            return None
        try:
            return self._answer(self._stream, (frame,), timeout)
        except ClientError:
            self._drop()
        except BaseException:
            self._drop()
            raise
        return None

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()
        self._transport, self._stream = None, None
        self._sent.clear()
        self._carriers.close()

    def _try(self, frames: tuple[bytes, ...]) -> bytes:
        transport = self._connected()
        if self._stream is not None:
            answer = self._answer(self._stream, frames, self.patience.exchange)
        else:
            answer = self._exchanged(transport, frames[0])
        self.reconnects += self._lost
        self._proven, self._lost = True, False
        self._carriers.delivered(transport)
        return answer

    def _exchanged(self, transport: Transport, frame: bytes) -> bytes:
        try:
            answer = transport.exchange(frame, self.patience.exchange)
        except NotASplitServer as error:
            if error.status != _STATUS_OF_A_PROXY or not self._carriers.ever_answered:
                raise
            raise ConnectionLost(f"HTTP status {error.status} from something in between") from error
        self.traffic.count(len(frame), len(answer))
        return answer

    def _connected(self) -> Transport:
        if self._transport is None:
            return self._taken(self._carriers.open())
        better = self._carriers.back(self._transport)
        if better is None:
            return self._transport
        self._transport.close()
        return self._taken(better)

    def _taken(self, transport: Transport) -> Transport:
        self._transport = transport
        self.connections += 1
        self._stream = transport if isinstance(transport, Stream) else None
        self._proven = False
        if self._longest:
            transport.accept(self._longest)
        return transport

    def _answer(self, stream: Stream, frames: tuple[bytes, ...], timeout: float) -> bytes:
        while True:
            self._send(stream, frames)
            answer = stream.receive(timeout)
            answered = self._sent.popleft()
            self._one_by_one = False
            self.traffic.count(len(answered), len(answer))
            # Else nobody waits for it any more: a frame before it was refused.
            if _is_among(answered, frames):
                return answer

    def _send(self, stream: Stream, frames: tuple[bytes, ...]) -> None:
        for frame in frames[:1] if self._one_by_one else frames:
            if not _is_among(frame, self._sent):
                stream.send(frame, self.patience.exchange)
                self._sent.append(frame)

    def _drop(self) -> None:
        if self._transport is not None:
            self._carriers.lost(self._transport, proven=self._proven)
        self._one_by_one |= len(self._sent) > 1
        self.close()

    def _wait(self, error: _Lost, attempt: int, deadline: float) -> None:
        delay = self.patience.delay(attempt, self._chance())
        if self._clock() + delay > deadline:
            raise error
        # A connection that idled until somebody closed it is replaced without a word.
        if attempt > 0:
            self._notify(Reconnecting(error.reason, attempt, delay))
        self._pause(delay)


def _is_among(frame: bytes, frames: Iterable[bytes]) -> bool:
    """Whether it is one of these very objects: equal bytes may be sent twice on purpose."""
    return any(frame is one for one in frames)


# Far above what the delays allow within any sensible total; a bound for clocks that stand still.
_MAX_ATTEMPTS = 10_000
