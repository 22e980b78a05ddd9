"""Settings of the memory that a server may hold."""

from __future__ import annotations

from split_settings import option, settings


@settings("server", slots=False)
class MemoryConfig:
    """A base of the settings of whatever loads or plans a model."""

    memory_limit: int = option(
        0,
        help="bytes of private memory that this process may hold; 0 takes what the machine, its "
        "control groups and resource limits leave",
        minimum=0,
    )
    memory_share: float = option(
        1.0,
        help="share of the memory that is free at the start which this process may hold, such as "
        "0.5 for each of two replicas on a machine without control groups; 1 sets no limit",
        above=0,
        maximum=1,
    )
