"""Checks of what carries frames to this server, and of how long a round trip takes."""

from __future__ import annotations

import statistics
import time
from typing import Literal

from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem, warning
from split_client.doctor.refusals import refusal
from split_client.errors import AnswerInvalid, ClientError, ServerRefused
from split_client.terminal.output.words import seconds
from split_client.transport.connect import connector
from split_client.transport.routing.route import Route
from split_client.transport.websocket import WebSocketTransport
from split_wire.codec import decode_server_message, encode_message
from split_wire.errors import SplitError
from split_wire.messages import Failure, Ping, Pong

_PINGS = 6
_LONGEST_PONG = 64 * 1024
_SLOW_SECONDS = 0.2


class _NotPong(ClientError):
    """An answer that no split server gives to a ping."""

    def __init__(self, reason: str, cause_code: str) -> None:
        self.cause_code = cause_code
        super().__init__(f"the answer to a ping {reason}")


def check_websocket(case: Case) -> Finding:
    """Whether frames get through a WebSocket."""
    if case.transport == "http":
        return Finding("websocket", "skipped", "--transport http")
    try:
        case.round_trips = _pings(case, "websocket")
    except ServerRefused as error:
        return refusal("websocket", error)
    except ClientError as error:
        return _blocked(case, str(getattr(error, "reason", error)))
    case.carrier = "websocket"
    return ok("websocket", "gets through")


def check_deflate(case: Case) -> Finding:
    """Whether messages of a WebSocket are compressed (RFC 7692) where a browser offers it."""
    if case.carrier != "websocket":
        return Finding("deflate", "skipped", "no WebSocket gets through")
    offered = (ClientPerMessageDeflateFactory(),)
    limit = case.limits.connect
    try:
        socket = WebSocketTransport(case.server, case.token, _LONGEST_PONG, limit, offered=offered)
    except ServerRefused as error:
        return refusal("deflate", error)
    except ClientError as error:
        return _compressed(f"a WebSocket that offers compression does not get through: {error}")
    taken = socket.extensions
    socket.close()
    return _compressed("messages of browsers are compressed") if taken else ok("deflate", "is off")


def check_http(case: Case) -> Finding:
    """Whether frames get through in POST requests."""
    if case.transport == "websocket":
        return Finding("http", "skipped", "--transport websocket")
    try:
        trips = _pings(case, "http")
    except ClientError as error:
        if case.carrier is None:
            return refusal("http", error)
        return warning(
            "http",
            "post_blocked",
            f"frames do not get through in POST requests: {error}",
            "a chat uses the WebSocket and has nothing to fall back to; "
            "let the proxy pass POST /api/v1/split/forward",
        )
    if case.carrier is None:
        case.carrier, case.round_trips = "http", trips
        return ok("http", "gets through, and is what a chat uses here")
    return ok("http", "gets through, should the WebSocket break")


def check_latency(case: Case) -> Finding:
    """The round trips of pings: every token takes one."""
    median, best = statistics.median(case.round_trips), min(case.round_trips)
    text = f"a round trip takes {_shown(median)}, {_shown(best)} at best"
    facts = {"median_s": round(median, 6), "best_s": round(best, 6)}
    if median > _SLOW_SECONDS:
        return warning(
            "latency",
            "slow_network",
            f"{text}, so {1 / median:.1f} tokens/s at most",
            "use a network that is closer to the server",
            **facts,
        )
    return ok("latency", text, **facts)


def check_pong(case: Case, kind: Literal["websocket", "http"], route: Route) -> None:
    """Raise the error of a ping that goes by ``route``."""
    _pings(case, kind, 1, route)


def _pings(
    case: Case,
    kind: Literal["websocket", "http"],
    count: int = _PINGS,
    route: Route | None = None,
) -> list[float]:
    """Seconds of each round trip but the first, which sets the connection up."""
    connect = connector(case.server, case.token, _LONGEST_PONG, route)
    transport = connect(kind, case.limits.connect)
    try:
        trips = []
        for _ in range(count):
            began = time.monotonic()
            _pong(transport.exchange(encode_message(Ping()), case.limits.answer))
            trips.append(time.monotonic() - began)
        return trips[1:]
    finally:
        transport.close()


def _pong(frame: bytes) -> None:
    try:
        message = decode_server_message(frame, _LONGEST_PONG)
    except SplitError as error:
        raise _NotPong(f"cannot be read: {error}", error.code) from error
    if isinstance(message, Failure):
        raise ServerRefused.of(message.error())
    if not isinstance(message, Pong):
        raise _NotPong("is something else", AnswerInvalid.code)


def _blocked(case: Case, reason: str) -> Finding:
    if case.transport == "websocket":
        return problem(
            "websocket",
            "websocket_blocked",
            f"no WebSocket gets through: {reason}",
            "use --transport auto, or let the proxy pass WebSockets",
        )
    return warning(
        "websocket",
        "websocket_blocked",
        f"no WebSocket gets through: {reason}",
        "a chat falls back to HTTP by itself; --transport http saves the attempt, and a proxy "
        "that passes Upgrade makes it faster",
    )


def _compressed(text: str) -> Finding:
    return warning(
        "deflate",
        "compressed",
        f"{text}, which costs time at each token and saves nothing",
        "start the server by split-server, or have what is in front remove "
        "Sec-WebSocket-Extensions",
    )


def _shown(trip: float) -> str:
    return f"{trip * 1000:.1f} ms" if trip < 0.01 else seconds(trip)
