"""TLS sessions of this process: a connection to a server seen before skips its certificates."""

from __future__ import annotations

import socket
import ssl
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from split_client.transport.endpoint import Endpoint
from split_client.transport.tls import pinned_authority, tls_context

_MOST = 16
# Host, port, and the pinned authority or what the system's were read from.
_Key: TypeAlias = tuple[str, int, str | tuple[tuple[str, int], ...]]


@dataclass(slots=True)
class _Kept:
    """A session goes on in the context alone that has verified it."""

    context: ssl.SSLContext
    session: ssl.SSLSession | None = None


class TlsSessions:
    """One session for each server and pinned authority: with another pin all is verified anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()

    def wrap(self, raw: socket.socket, endpoint: Endpoint) -> ssl.SSLSocket:
        """``raw`` with TLS. Raises OSError, KnownServersDamaged."""
        key = _key(endpoint)
        kept = self._at(key, endpoint)
        try:
            return kept.context.wrap_socket(
                raw, server_hostname=endpoint.host, session=kept.session
            )
        except OSError:
            # Whatever was wrong with the session, the next handshake is a whole one.
            self._kept.pop(key, None)
            raise

    def context(self, endpoint: Endpoint) -> ssl.SSLContext:
        """What verifies ``endpoint``, for a library that connects by itself. Raises
        KnownServersDamaged.
        """
        return self._at(_key(endpoint), endpoint).context

    def forget(self, endpoint: Endpoint) -> None:
        """Read the authorities anew for what comes next: no connection came about."""
        self._kept.pop(_key(endpoint), None)

    def _at(self, key: _Key, endpoint: Endpoint) -> _Kept:
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = _Kept(tls_context(endpoint))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return kept

    def remember(self, secured: socket.socket) -> None:
        """Keep the session of a connection that ends, which a server names once it is in use."""
        if not isinstance(secured, ssl.SSLSocket) or secured.session is None:
            return
        for kept in self._kept.values():
            if kept.context is secured.context:
                kept.session = secured.session


def _key(endpoint: Endpoint) -> _Key:
    return endpoint.host, endpoint.port, pinned_authority(endpoint) or _system()


def _system() -> tuple[tuple[str, int], ...]:
    """The system's authorities as files, which people name or change while a program runs."""
    paths = ssl.get_default_verify_paths()
    return tuple((path, _changed(path)) for path in (paths.cafile, paths.capath) if path)


def _changed(path: str) -> int:
    """When, in nanoseconds; 0 where that cannot be told."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
