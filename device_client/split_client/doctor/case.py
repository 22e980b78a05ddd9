"""The case that is examined, and what the checks have learned so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from split_client.transport.channel import Channel, Mode
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_client.transport.routing.route import Route
from split_client.weights.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: for one connection attempt, for one answer, for a step of the model."""

    connect: float = 5.0
    answer: float = 10.0
    step: float = 60.0


@dataclass(slots=True)
class Clocks:
    """The server's ``Date`` and this machine's time at the middle of the exchange (Unix time)."""

    server: float
    here: float


@dataclass(slots=True)
class Case:
    """``wall`` is this machine's clock (Unix time); what is None has not been found out.

    ``named``: the name of one of the server's models, None: its first, or that of the URL.
    ``paired``: whether the token is the one of this device's pairing with the server; ``route``: of
    this examination alone; ``replica``: what the server that opened a session calls itself.
    """

    url: str
    token: str | None = None
    transport: Mode = "auto"
    cache: Path | None = None
    limits: Limits = field(default_factory=Limits)
    wall: Callable[[], float] = time.time
    paired: bool = False
    named: str | None = None
    endpoint: Endpoint | None = None
    proxy: str | None = None
    addresses: list[str] = field(default_factory=list)
    clocks: Clocks | None = None
    manifest_bytes: bytes | None = None
    manifest: Manifest | None = None
    stored: bool = False
    carrier: Literal["websocket", "http"] | None = None
    round_trips: list[float] = field(default_factory=list)
    route: Route = field(default_factory=Route)
    replica: str | None = None
    channel: Channel | None = None
    backend: RemoteBackend | None = None

    def close(self) -> None:
        """End what is still open."""
        if self.channel is not None:
            self.channel.close()

    @property
    def server(self) -> Endpoint:
        """The endpoint, once its URL is read."""
        if self.endpoint is None:
            raise RuntimeError("the URL has not been read")
        return self.endpoint

    @property
    def model(self) -> Manifest:
        """The manifest, once it is read."""
        if self.manifest is None:
            raise RuntimeError("the manifest has not been read")
        return self.manifest

    @property
    def reached(self) -> Endpoint:
        """The first stop of HTTP connections: the proxy of the environment, or the server."""
        return Endpoint.parse(self.proxy) if self.proxy else self.server
