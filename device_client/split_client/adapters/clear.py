"""Adapters that the split server applies in the clear; it sees their names with every step."""

from __future__ import annotations

from dataclasses import replace

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.errors import UnknownAdapter
from split_client.adapters.listing import fetch_adapters
from split_client.generation.sequence import Sequence
from split_client.transport.endpoint import Endpoint


class ClearAdapters:
    """Those that ``offered`` tells; implements :class:`split_client.adapters.choice.Adapters`."""

    def __init__(self, offered: tuple[AdapterInfo, ...]) -> None:
        # Whatever the server says of itself: used this way, they are applied in the clear.
        self.available = tuple(replace(adapter, encrypted=False) for adapter in offered)

    @classmethod
    def at(
        cls, endpoint: Endpoint, token: str | None, connect_timeout: float = 10.0
    ) -> ClearAdapters:
        """Those of the server at ``endpoint``. Raises what :func:`fetch_adapters` raises."""
        return cls(fetch_adapters(endpoint, token, connect_timeout))

    def use(self, name: str | None, sequence: Sequence) -> None:
        """Have every later step of ``sequence`` name the adapter. Raises UnknownAdapter."""
        names = [adapter.name for adapter in self.available]
        if name is not None and name not in names:
            raise UnknownAdapter(name, names)
        sequence.adapter = name

    def prepare(self, name: str) -> None:
        """The server has what it needs."""

    def close(self) -> None:
        """Nothing is held."""
