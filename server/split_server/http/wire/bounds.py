"""What uvicorn needs for the limits on peers that the application counts on, whoever runs it."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

import uvicorn

from split_server.http.wire.protocols import BoundedHttp
from split_server.http.wire.websocket import BoundedWebSocket

_load = uvicorn.Config.load


def bound_uvicorn(max_frame_bytes: int, config: uvicorn.Config | None = None) -> None:
    """Have a server of ``config`` keep the limits of :mod:`split_server.http.wire.protocols`, with
    messages of WebSockets of at most ``max_frame_bytes``; before it starts.

    None: every server that this process starts from now on and whose configuration was not bound
    by itself, as where a host makes one of its own. As it comes, uvicorn compresses hidden states,
    takes messages of 16 MB, waits for a request's head for ever, and believes what any local
    process forwards.
    """
    if config is None:
        loading: Any = partialmethod(_load_bounded, max_frame_bytes)
        uvicorn.Config.load = loading  # type: ignore[method-assign]
    else:
        _bound(config, max_frame_bytes)


def _load_bounded(config: uvicorn.Config, max_frame_bytes: int) -> None:
    if config.ws is not BoundedWebSocket:
        _bound(config, max_frame_bytes)
    _load(config)


def _bound(config: uvicorn.Config, max_frame_bytes: int) -> None:
    config.http, config.http2 = BoundedHttp, False
    config.ws = BoundedWebSocket
    config.ws_max_size = max_frame_bytes
    # Hidden states do not compress, so compression would only cost time.
    config.ws_per_message_deflate = False
    config.ws_ping_interval = 20.0
    # A client without threads answers no ping while its user types.
    config.ws_ping_timeout = 300.0
    # Any local process could add the headers of a proxy.
    config.proxy_headers = config.server_header = False
