"""TLS sessions of this process: a connection to a server seen before skips its certificates."""

from __future__ import annotations

import socket
import ssl
from collections import OrderedDict
from dataclasses import dataclass

from split_client.transport.endpoint import Endpoint
from split_client.transport.tls import pinned_authority, tls_context

_MOST = 16


@dataclass(slots=True)
class _Kept:
    """A session goes on in the context alone that has verified it."""

    context: ssl.SSLContext
    session: ssl.SSLSession | None = None


class TlsSessions:
    """One session for each server and pinned authority: with another pin all is verified anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, str | None], _Kept] = OrderedDict()

    def wrap(self, raw: socket.socket, endpoint: Endpoint) -> ssl.SSLSocket:
        """``raw`` with TLS. Raises OSError, KnownServersDamaged."""
        key = _key(endpoint)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = _Kept(tls_context(endpoint))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        try:
            return kept.context.wrap_socket(
                raw, server_hostname=endpoint.host, session=kept.session
            )
        except OSError:
            # Whatever was wrong with the session, the next handshake is a whole one.
            self._kept.pop(key, None)
            raise

    def remember(self, secured: socket.socket) -> None:
        """Keep the session of a connection that ends, which a server names once it is in use."""
        if not isinstance(secured, ssl.SSLSocket) or secured.session is None:
            return
        for kept in self._kept.values():
            if kept.context is secured.context:
                kept.session = secured.session


def _key(endpoint: Endpoint) -> tuple[str, int, str | None]:
    return endpoint.host, endpoint.port, pinned_authority(endpoint)
