"""Frames over a WebSocket (RFC 6455) on a plain blocking socket.

The protocol is the sans-I/O one of ``websockets``, so that no thread stands between the socket and
the caller: a message is taken up by the thread that waits for it.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, PayloadTooBig
from websockets.extensions import ClientExtensionFactory
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from split_client.errors import ConnectionLost, ServerRefused, UpgradeRefused
from split_client.transport.bearer import authorization
from split_client.transport.endpoint import Endpoint
from split_client.transport.reach.diagnosis import unreachable
from split_client.transport.refusal import read_refusal
from split_client.transport.tls_sessions import TlsSessions
from split_wire.errors import FrameTooLarge, NotFound
from split_wire.messages import SUBPROTOCOL

PATH = "/api/v1/split/stream"
_RECEIVE_BYTES = 64 * 1024
_MAX_REFUSAL_BYTES = 64 * 1024
# A server that computes is silent for long; a ping tells it from a connection that died without a
# word.
PING_AFTER = 10.0
PONG_WITHIN = 20.0
# A ping waits behind what is buffered; this much passes a megabit per second within PONG_WITHIN.
_SEND_BUFFER = 512 * 1024
_SESSIONS = TlsSessions()
_SILENT = logging.getLogger("split_client.websocket")
_SILENT.setLevel(logging.CRITICAL + 1)


class WebSocketTransport:
    """One connection with subprotocol ``split.v1``; it accepts ``max_frame`` bytes at most.

    ``routing``: the routing id, by which a balancer brings it to a machine; ``offered``: extensions
    that whoever answers may take up, none for a chat.
    """

    name = "websocket"

    def __init__(
        self,
        endpoint: Endpoint,
        token: str | None,
        max_frame: int,
        connect_timeout: float,
        clock: Callable[[], float] = time.monotonic,
        routing: str | None = None,
        offered: Sequence[ClientExtensionFactory] = (),
    ) -> None:
        self._clock = clock
        self._parts: list[bytes] = []
        self._arrived: deque[bytes] = deque()
        self._socket = _connect(endpoint, connect_timeout)
        self._protocol = ClientProtocol(
            parse_uri("ws" + endpoint.routed(PATH, routing).removeprefix("http")),
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            extensions=list(offered) or None,
            max_size=max_frame,
            logger=_SILENT,
        )
        try:
            self._upgrade(token, self._clock() + connect_timeout)
        except BaseException:
            self._socket.close()
            raise

    @property
    def extensions(self) -> tuple[str, ...]:
        """Names of those that were taken up."""
        return tuple(str(each.name) for each in self._protocol.extensions)

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send ``frame`` and return the next binary message.

        Raises ConnectionLost, ServerRefused.
        """
        deadline = self._clock() + timeout
        self.send(frame, timeout)
        return self.receive(deadline - self._clock())

    def send(self, frame: bytes, timeout: float) -> None:
        """Send ``frame`` and wait for nothing. Raises ConnectionLost, ServerRefused."""
        self._require_open()
        self._protocol.send_binary(frame)
        # Sending as a whole is timed, and a long prefill over a slow uplink takes its time.
        self._socket.settimeout(timeout)
        self._flush()

    def receive(self, timeout: float) -> bytes:
        """The next binary message. Raises ConnectionLost, ServerRefused."""
        deadline = self._clock() + timeout
        while True:
            self._take_in()
            if self._arrived:
                return self._arrived.popleft()
            self._require_open()
            self._receive_or_ping(deadline)

    def _take_in(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and _carries_data(event):
                # The limit of a message counts its bytes, and there is none of its fragments.
                if event.data:
                    self._parts.append(bytes(event.data))
                if event.fin:
                    parts, self._parts = self._parts, []
                    self._arrived.append(parts[0] if len(parts) == 1 else b"".join(parts))

    def accept(self, max_frame: int) -> None:
        """Answers may have ``max_frame`` bytes from here on."""
        # Read whenever the first bytes of a message have arrived.
        self._protocol.max_message_size = max_frame

    def close(self) -> None:
        """Say goodbye without waiting for the answer."""
        with contextlib.suppress(ConnectionLost):
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
                self._flush()
        _SESSIONS.remember(self._socket)
        self._socket.close()

    def _upgrade(self, token: str | None, deadline: float) -> None:
        request = self._protocol.connect()
        request.headers.update(authorization(token))
        self._protocol.send_request(request)
        try:
            self._flush()
            while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
                self._receive(deadline)
        except ConnectionLost as error:
            raise UpgradeRefused(error.reason) from error
        if self._protocol.handshake_exc is not None:
            raise self._refusal(self._protocol.handshake_exc)
        if self._protocol.subprotocol != SUBPROTOCOL:
            raise UpgradeRefused(f"the server does not speak {SUBPROTOCOL}")

    def _refusal(self, reason: Exception) -> Exception:
        """A refusal in the server's own words is final; anything else leaves HTTP to be tried."""
        for event in self._protocol.events_received():
            if isinstance(event, Response) and event.body:
                refused = read_refusal(
                    bytes(event.body[:_MAX_REFUSAL_BYTES]), event.headers.get("Retry-After")
                )
                # A proxy that drops the upgrade asks for a page, which is not there.
                if refused is not None and refused.code != NotFound.code:
                    return refused
        return UpgradeRefused(str(reason) if isinstance(reason, InvalidHandshake) else "no answer")

    def _receive_or_ping(self, deadline: float) -> None:
        quiet = self._clock() + PING_AFTER
        if quiet >= deadline:
            self._receive(deadline)
            return
        try:
            self._receive(quiet)
        except _Silence:
            self._protocol.send_ping(b"")
            self._flush()
            self._receive(min(deadline, self._clock() + PONG_WITHIN))

    def _receive(self, deadline: float) -> None:
        left = deadline - self._clock()
        # A server that drips has something to read every time.
        if left <= 0:
            raise _Silence
        try:
            self._socket.settimeout(left)
            data = self._socket.recv(_RECEIVE_BYTES)
        except TimeoutError as error:
            raise _Silence from error
        except OSError as error:
            raise ConnectionLost(error.strerror or "the connection broke") from error
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._flush()

    def _flush(self) -> None:
        try:
            for data in self._protocol.data_to_send():
                if data:
                    self._socket.sendall(data)
        except OSError as error:
            raise ConnectionLost(error.strerror or "the connection broke") from error

    def _require_open(self) -> None:
        protocol = self._protocol
        if protocol.state is State.OPEN:
            return
        received = protocol.close_rcvd
        if received is None:
            if isinstance(protocol.parser_exc, PayloadTooBig):
                raise ServerRefused(
                    "answer_too_large",
                    "the server's answer is longer than agreed; use another server",
                )
            raise ConnectionLost("closed without a word")
        if received.code == CloseCode.MESSAGE_TOO_BIG:
            raise ServerRefused(
                FrameTooLarge.code, "the frame is larger than the server accepts; send fewer rows"
            )
        if received.code == CloseCode.POLICY_VIOLATION:
            raise ServerRefused("policy_violation", received.reason or "the server hung up")
        raise ConnectionLost(f"closed with code {received.code}")


class _Silence(ConnectionLost):
    def __init__(self) -> None:
        super().__init__("no answer in time")


def _carries_data(frame: Frame) -> bool:
    return frame.opcode in (Opcode.BINARY, Opcode.CONT)


def _connect(endpoint: Endpoint, timeout: float) -> socket.socket:
    try:
        raw = socket.create_connection((endpoint.host, endpoint.port), timeout)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        if not endpoint.secure:
            return raw
        return _SESSIONS.wrap(raw, endpoint)
    except OSError as error:
        raise unreachable(endpoint, error, timeout) from error
