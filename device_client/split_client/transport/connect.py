"""Making a transport of either kind for one server."""

from __future__ import annotations

from typing import Literal

from split_client.transport.base import Transport
from split_client.transport.channel import Connect
from split_client.transport.endpoint import Endpoint
from split_client.transport.websocket import WebSocketTransport


def connector(endpoint: Endpoint, token: str | None, max_frame: int) -> Connect:
    """``max_frame``: bytes of the longest answer that is accepted."""

    def connect(kind: Literal["websocket", "http"], timeout: float) -> Transport:
        if kind == "websocket":
            return WebSocketTransport(endpoint, token, max_frame, timeout)
        # The HTTP library is large, and most sessions never need it.
        from split_client.transport.http import HttpTransport

        return HttpTransport(endpoint, token, max_frame, timeout)

    return connect
