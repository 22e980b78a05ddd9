"""The listener for those who run the server: opened before the model is loaded, closed last."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from split_server.http.ops import Told, ops_app
from split_server.http.wire.doors import DoorLimits, Doors
from split_server.http.wire.graceful import Beside
from split_server.http.wire.server import listening
from split_server.security.access import AccessPolicy, ConflictingAccess, is_loopback
from split_server.security.authority import Authority, parse_authority
from split_server.serving.config import ServerConfig
from split_server.serving.lifecycle.targets import listed

_SETTING = "--ops-listen"
# Checks of a few balancers and of Prometheus; one too many ends the one that has stood longest.
_LIMITS = DoorLimits(total=128, per_address=128, strangers=128, strangers_per_address=64)


def require_ops(config: ServerConfig, policy: AccessPolicy) -> Authority | None:
    """Where health and metrics are served by themselves, None where they are not.

    Raises ConflictingAccess.
    """
    if config.ops_listen is None:
        if config.ops_targets is not None:
            raise ConflictingAccess(f"--ops-targets names what {_SETTING} serves; give both")
        return None
    address = parse_authority(config.ops_listen)
    if address is None:
        raise ConflictingAccess(f"{_SETTING} {config.ops_listen} is no address and port")
    if policy.tokens is None and config.auth and not is_loopback(address.host):
        raise ConflictingAccess(
            f"{_SETTING} beyond loopback asks for a token for /metrics, and this server has none; "
            "give --token or --token-file, or --no-auth to let everyone in"
        )
    return address


@contextmanager
def ops_listening(
    config: ServerConfig, policy: AccessPolicy, told: Told
) -> Iterator[Sequence[Beside]]:
    """The listener of ``config``, if there is one, named in ``--ops-targets`` until the end of the
    ``with``.

    Raises ConflictingAccess, CannotListen, TargetsUnusable.
    """
    address = require_ops(config, policy)
    if address is None:
        yield ()
        return
    asked = None if is_loopback(address.host) or policy.tokens is None else policy
    app = ops_app(told, config.hosts, asked)
    with (
        listening(address.host, address.port or 0, _SETTING) as sockets,
        listed(config.ops_targets, _target(sockets[0])),
    ):
        yield (Beside(sockets, app, doors=Doors(_LIMITS), throughout=True),)


def _target(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def ops_urls(beside: Sequence[Beside]) -> list[str]:
    """Where they listen."""
    return [f"http://{_target(opened)}" for each in beside for opened in each.sockets]
