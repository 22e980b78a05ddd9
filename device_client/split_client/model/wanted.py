"""What is asked of a connection."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.head.head import HeadKind
from split_client.noise.settings import NoiseSettings
from split_client.transport.channel import Mode, Patience
from split_client.transport.endpoint import Endpoint
from split_wire.tiers import Cache


@dataclass(frozen=True, slots=True)
class Wanted:
    """The server that is wanted, and how it is used; see :class:`split_client.api.SplitClient`."""

    endpoint: Endpoint
    token: str | None
    mode: Mode
    lm_head: HeadKind
    patience: Patience
    noise: NoiseSettings | None
    server_cache: Cache = "exact"
    cache_group: str | None = None
    share_until: int = 0
