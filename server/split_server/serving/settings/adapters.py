"""Settings of adapters, in the clear and on ciphertexts."""

from __future__ import annotations

from pathlib import Path

from split_server.serving.listen_config import policy_origin
from split_server.serving.settings.limits import LIMITS
from split_settings import option, settings


@settings("server", slots=False)
class AdapterConfig:
    """A base of the settings of the server of a model."""

    adapters: Path | None = option(
        None,
        help="folder with one folder per adapter; default: the folder 'adapters' of the model, "
        "if it has one",
        metavar="DIR",
    )
    adapter_host: bool = option(
        False,
        help="also compute the adapters on ciphertexts of devices, below /adapter-host; here, "
        "where the hidden states come from, that hides nothing",
    )
    adapter_origin: tuple[str, ...] = option(
        (),
        help="origin of a host of encrypted adapters that the web page may ask; the host allows "
        "this server's own with --allow-origin",
        metavar="URL",
        parse=policy_origin,
    )
    query_budget: int = option(
        0,
        help="queries of --adapter-host that one token may make of one adapter, 0: no limit",
        minimum=0,
        maximum=1 << 53,
        group=LIMITS,
    )
    adapter_state: Path | None = option(
        None,
        help="folder where spent queries are counted over restarts",
        metavar="DIR",
        group=LIMITS,
    )
    he: bool = option(
        True,
        help="encrypt what original clients want encrypted (use_he), with a key of this server's; "
        "it hides nothing from the server, and --no-he leaves it out",
    )
    adapter_noise_epsilon: float = option(
        0.0,
        help="noise on what goes into an adapter of the original protocol: epsilon of one row at "
        "delta 1e-5; 0 adds none. The server knows the state all the same",
        minimum=0.0,
        maximum=1000.0,
    )
    adapter_noise_clip: float = option(
        0.5,
        help="norm to which a row is clipped before that noise; the sensitivity is twice this",
        minimum=1e-3,
        maximum=1e6,
    )
