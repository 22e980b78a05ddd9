"""Settings of a replica whose process, address and neighbours are somebody else's affair."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from split_server.deploy.errors import DeploymentRefused
from split_server.serving.config import ServerConfig
from split_settings import resolve, settings_of

# What the host decides.
_OF_THE_HOST = (
    "host",
    "port",
    "lan",
    "tls",
    "tls_cert",
    "tls_key",
    "ollama_listen",
    "ops_listen",
    "ops_targets",
    "address_file",
    "drain_delay",
    "replica",
    "balancer",
    "max_connections_per_address",
    "memory_share",
)
_WHERE = "arguments of the application"


def replica_settings(
    given: Mapping[str, Any], environ: Mapping[str, str], name: str | None = None
) -> ServerConfig:
    """The settings of the replica ``name``: a ``SPLIT_SERVER_*`` variable of ``environ``, then
    ``given``, which has the keys of the table [server], then the default. No file is read.

    Raises SettingsError, DeploymentRefused.
    """
    if "token" in given:
        raise DeploymentRefused(
            "a token among the arguments is shown to everybody who sees the cluster; name a file "
            "with token_file, or set SPLIT_SERVER_TOKEN where replicas run"
        )
    config = resolve(ServerConfig, Namespace(), environ, given, path=_WHERE)
    _require_nothing_of_the_host(config)
    if config.memory_limit <= 0:
        raise DeploymentRefused(
            "memory_limit is missing: a replica would take all of its node's memory for caches; "
            "give it the bytes of one replica, as in ray_actor_options.memory"
        )
    return replace(config, replica=name)


def _require_nothing_of_the_host(config: ServerConfig) -> None:
    defaults = {one.name: one.default for one in settings_of(ServerConfig)}
    changed = [name for name in _OF_THE_HOST if getattr(config, name) != defaults[name]]
    if changed:
        raise DeploymentRefused(
            f"{', '.join(changed)}: addresses, TLS, names of replicas and their shares are the "
            "cluster's; leave it out of the arguments and of the SPLIT_SERVER_ variables"
        )
