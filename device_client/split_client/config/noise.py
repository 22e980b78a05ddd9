"""Settings of noise on what is sent."""

from __future__ import annotations

from pathlib import Path

from split_client.config.connection import ConnectionConfig
from split_settings import option, settings


@settings("client")
class NoiseConfig(ConnectionConfig):
    """Noise on what is sent; none unless an epsilon or a sigma is given."""

    noise_epsilon: float | None = option(
        None,
        help="noise such that one replaced token is (epsilon, delta), each time that it is sent",
        metavar="E",
        above=0,
        group="noise",
    )
    noise_sigma: float | None = option(
        None, help="instead: the noise of every value", metavar="S", above=0, group="noise"
    )
    noise_delta: float = option(
        1e-5,
        help="delta of every epsilon",
        metavar="D",
        above=0,
        maximum=1 - 2**-53,
        group="noise",
    )
    noise_clip: float | None = option(
        None,
        help="rows are scaled down to this norm (default: that of which 1% of the table's are "
        "longer)",
        metavar="C",
        above=0,
        group="noise",
    )
    noise_budget: float | None = option(
        None,
        help="send nothing beyond this epsilon, everything replaced that was ever sent with noise",
        metavar="EPS",
        above=0,
        group="noise",
    )
    noise_ledger: Path | None = option(
        None,
        help="file that counts what was sent (default: in the platform's state folder)",
        metavar="FILE",
        group="noise",
    )
    noise_identity: str = option(
        "default", help="whose losses the ledger adds up", metavar="NAME", group="noise"
    )
