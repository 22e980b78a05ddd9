"""Making a transport of either kind for one server."""

from __future__ import annotations

from typing import Literal

from split_client.errors import ServerUnreachable, UpgradeRefused
from split_client.transport.base import Connect, Transport
from split_client.transport.endpoint import Endpoint
from split_client.transport.proxies import has_proxy
from split_client.transport.routing.route import Route
from split_client.transport.websocket import WebSocketTransport


def connector(
    endpoint: Endpoint, token: str | None, max_frame: int, route: Route | None = None
) -> Connect:
    """``max_frame``: bytes of the longest answer that is accepted; ``route``: what a balancer is
    told, as it is when a connection is made; None: nothing.
    """

    def connect(kind: Literal["websocket", "http"], timeout: float) -> Transport:
        routing = None if route is None else route.id
        if kind == "websocket":
            try:
                return WebSocketTransport(endpoint, token, max_frame, timeout, routing=routing)
            except ServerUnreachable as error:
                if not has_proxy(endpoint):
                    raise
                raise UpgradeRefused("WebSockets go direct, and only a proxy leads out") from error
        # The HTTP library is large, and most sessions never need it.
        from split_client.transport.http import HttpTransport

        return HttpTransport(endpoint, token, max_frame, timeout, routing)

    return connect
