"""Settings of ``split-server adapters``: flags, ``SPLIT_ADAPTERS_*``, the [adapters] table."""

from __future__ import annotations

from pathlib import Path

from split_server.serving.listen_config import NETWORK, ListenConfig
from split_settings import option, settings

_LIMITS = "limits"


@settings("adapters")
class AdapterHostConfig(ListenConfig):
    """Settings of an adapter host that runs by itself. Times in seconds."""

    adapters: Path | None = option(
        None,
        help="folder with one folder per adapter (default: the embedded model's)",
        metavar="DIR",
    )
    workers: int = option(
        0, help="processes that compute; 0: one per core, at most 8", minimum=0, maximum=256
    )
    activation_rms: float = option(
        64.0,
        help="largest root mean square of a hidden state that is computed with; larger is less "
        "exact",
        minimum=1e-3,
        maximum=1e5,
    )
    query_budget: int = option(
        0,
        help="queries that one token may make of one adapter, 0: no limit; about as many as the "
        "hidden size give the adapter away",
        minimum=0,
        maximum=1 << 53,
        group=_LIMITS,
    )
    max_masks: int = option(
        512,
        help="one-time masks that one token may hold ready, each a query of its budget; 0: none",
        minimum=0,
        maximum=1 << 16,
        group=_LIMITS,
    )
    state: Path | None = option(
        None,
        help="folder where spent queries are counted over restarts; it holds the local authority "
        "and the paired devices as well (default of these: the platform's data folder)",
        metavar="DIR",
        group=_LIMITS,
    )
    max_sessions: int = option(
        256, help="sessions in total", minimum=1, maximum=100_000, group=_LIMITS
    )
    max_sessions_per_principal: int = option(
        16, help="sessions of one token", minimum=1, maximum=100_000, group=_LIMITS
    )
    session_ttl: float = option(
        900.0,
        help="seconds after which an idle session is dropped",
        minimum=1,
        maximum=1e7,
        group=_LIMITS,
    )
    max_queued_bytes: int = option(
        8 << 20,
        help="bytes of messages that one token may have under way",
        minimum=2 << 20,
        group=_LIMITS,
    )
    shutdown_grace: float = option(
        5.0,
        help="seconds that queries under way get to finish when the host stops",
        minimum=0.1,
        maximum=3600,
        group=_LIMITS,
    )
    port: int = option(
        8097, help="port; 0 picks a free one", minimum=0, maximum=65535, group=NETWORK, short="-p"
    )
