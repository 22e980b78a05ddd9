"""What a client sent and received."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.transport.channel import Channel


@dataclass(frozen=True, slots=True)
class ClientStats:
    """Since the client connected: bytes of frames, round trips, what carries them, repairs."""

    bytes_up: int
    bytes_down: int
    exchanges: int
    transport: str | None
    reconnects: int

    @classmethod
    def of(cls, channel: Channel) -> ClientStats:
        """What ``channel`` counted so far."""
        traffic = channel.traffic
        return cls(
            traffic.sent,
            traffic.received,
            traffic.exchanges,
            channel.transport_name,
            channel.reconnects,
        )
