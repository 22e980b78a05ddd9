"""The way to the server that is audited."""

from __future__ import annotations

from dataclasses import dataclass, field

from split_client.transport.base import Connect, Mode
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.routing.route import Route


@dataclass(frozen=True, slots=True)
class Reach:
    """An address, the token that it asks for, what carries frames, and by which way."""

    endpoint: Endpoint
    token: str | None = None
    mode: Mode = "auto"
    route: Route = field(default_factory=Route)

    def connect(self, longest: int) -> Connect:
        """Makes transports that accept answers of ``longest`` bytes."""
        return connector(self.endpoint, self.token, longest, self.route)
