"""The doorway of a server: address, TLS, tokens, paired devices; decided before it listens."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from split_server.http.wire.doors import DoorLimits
from split_server.pairing.certificate import LanCertificate, given_certificate, utc_now
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.pairing import Pairing
from split_server.pairing.state import StateFolder
from split_server.security.access import (
    AccessPolicy,
    ConflictingAccess,
    access_policy,
    is_loopback,
)
from split_server.security.host import interface_addresses
from split_server.serving.listen_config import ListenConfig
from split_server.serving.settings.replica import ReplicaConfig

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - what --lan asks for; tokens and TLS are on then
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Doorway:
    """``tls``: None is plain HTTP. ``certificate``: of the local authority, kept up to date.

    ``pairing``: None where no token is asked for, or tokens would travel in the clear.
    ``beside``: the doorway of a second listener, of the same tokens.
    """

    host: str
    policy: AccessPolicy
    tls: ssl.SSLContext | None = None
    certificate: LanCertificate | None = None
    pairing: Pairing | None = None
    beside: Doorway | None = None

    @property
    def scheme(self) -> str:
        """Of its URLs."""
        return "http" if self.tls is None else "https"

    @property
    def exposed(self) -> bool:
        """Whether what travels beyond this machine can be read on the way."""
        return self.tls is None and not is_loopback(self.host)


def open_doorway(
    config: ListenConfig,
    *,
    lan: bool = False,
    beside: str | None = None,
    addresses: Callable[[], Sequence[str]] = interface_addresses,
) -> Doorway:
    """The doorway of ``config``; ``lan`` takes every address in place of loopback. ``beside``: the
    address of a second listener. Tokens are asked for at both if they are at one of them.

    Raises the errors of ``split_server.errors``.
    """
    replica = config.replica if isinstance(config, ReplicaConfig) else None
    if lan and config.tls == "off":
        raise ConflictingAccess("--tls off contradicts --lan; leave one out")
    host = _host(config, lan=lan)
    secure = wants_tls(config, lan=lan)
    beside_secure = beside is not None and _wants_tls(config, beside)
    policy = access_policy(
        beside if beside is not None and is_loopback(host) else host,
        token=config.token,
        token_file=config.token_file,
        auth=config.auth,
        guarded=secure or beside_secure,
        several=replica is not None,
        pairs=secure,
    )
    if not (secure or beside_secure):
        return Doorway(host, policy, beside=_beside(beside, policy))
    state = StateFolder(config.state)
    certificate = None if config.tls_cert else _local(config, state, addresses, replica)
    tls = _given(config) if certificate is None else certificate.context
    authority = None if certificate is None else certificate.authority
    pairing = None
    if secure and policy.tokens is not None:
        pairing = Pairing(state, authority, balancers=config.balancer)
        policy = replace(policy, device=pairing.known.principal)
    second = _beside(beside, policy, tls if beside_secure else None)
    return Doorway(host, policy, tls if secure else None, certificate, pairing, second)


def _beside(
    host: str | None, policy: AccessPolicy, tls: ssl.SSLContext | None = None
) -> Doorway | None:
    return None if host is None else Doorway(host, policy, tls)


def _host(config: ListenConfig, *, lan: bool) -> str:
    return EVERY_ADDRESS if lan and config.host == _LOOPBACK else config.host


def wants_tls(config: ListenConfig, *, lan: bool = False) -> bool:
    """Whether a server of ``config`` speaks TLS. Raises ConflictingAccess."""
    if (config.tls_cert is None) != (config.tls_key is None):
        raise ConflictingAccess("--tls-cert and --tls-key belong together; give both")
    if config.tls == "off":
        if config.tls_cert is not None:
            raise ConflictingAccess("--tls off contradicts --tls-cert; leave one out")
        return False
    return _wants_tls(config, _host(config, lan=lan))


def _wants_tls(config: ListenConfig, host: str) -> bool:
    """Whether what listens on ``host`` speaks TLS."""
    if config.tls == "off":
        return False
    return config.tls == "on" or config.tls_cert is not None or not is_loopback(host)


def _given(config: ListenConfig) -> ssl.SSLContext:
    if config.tls_cert is None or config.tls_key is None:
        raise ConflictingAccess("--tls-cert and --tls-key belong together; give both")
    return given_certificate(config.tls_cert, config.tls_key, utc_now())


def _local(
    config: ListenConfig,
    state: StateFolder,
    addresses: Callable[[], Sequence[str]],
    replica: str | None,
) -> LanCertificate:
    authority = LocalAuthority.open(state, utc_now())
    return LanCertificate(authority, state, config.hosts, addresses, replica=replica)


def door_limits(config: ListenConfig) -> DoorLimits:
    """How many connections ``config`` allows."""
    return DoorLimits(
        per_address=config.max_connections_per_address,
        strangers_per_address=min(
            DoorLimits().strangers_per_address, config.max_connections_per_address
        ),
        balancers=config.balancer,
    )
