"""The access policy: decided once from where the server listens and which tokens it was given."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from split_server.errors import ServerError
from split_server.security.principal import ANONYMOUS, LOCAL
from split_server.security.token_file import TokenFile
from split_server.security.tokens import TokenBook, make_token, single_token


class ConflictingAccess(ServerError):
    """Settings that contradict each other."""

    code = "conflicting_access"


async def _no_device(_: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """``tokens``: who is let in; None lets everyone in as ``everyone``.

    ``made``: the token that was generated, to be shown to the operator once. ``device``: the
    principal of a paired device's token, beside the book; it raises a SplitError where nobody knows
    at present.
    """

    tokens: TokenBook | None
    everyone: str = LOCAL
    made: str | None = None
    device: Callable[[str], Awaitable[str | None]] = _no_device

    @property
    def open_to_network(self) -> bool:
        """Whether other machines come in without a token."""
        return self.tokens is None and self.everyone == ANONYMOUS


def access_policy(
    host: str,
    *,
    token: str | None,
    token_file: Path | None,
    auth: bool,
    guarded: bool = False,
    several: bool = False,
    pairs: bool = False,
    generate: Callable[[], str] = make_token,
) -> AccessPolicy:
    """Tokens that were given always count; beyond loopback one is made unless ``auth`` is off.

    ``guarded``: one is made on loopback too, for whatever makes the server reachable from there.
    ``several``: of one address, so none is made, as each would make another, and nobody is let in
    without; where it ``pairs``, devices have theirs from that.

    Raises ConflictingAccess, BadTokens.
    """
    if token is not None and token_file is not None:
        raise ConflictingAccess("give either --token or --token-file, not both")
    given = token is not None or token_file is not None
    if given and not auth:
        raise ConflictingAccess("--no-auth contradicts a token; leave one of them out")
    if token is not None:
        return AccessPolicy(single_token(token))
    if token_file is not None:
        return AccessPolicy(TokenFile(token_file))
    if several:
        return _given_to_several(auth=auth, pairs=pairs)
    if is_loopback(host) and not (guarded and auth):
        return AccessPolicy(None)
    if not auth:
        return AccessPolicy(None, everyone=ANONYMOUS)
    made = generate()
    return AccessPolicy(single_token(made), made=made)


def _given_to_several(*, auth: bool, pairs: bool) -> AccessPolicy:
    """Raises ConflictingAccess."""
    if not auth:
        raise ConflictingAccess(
            "--no-auth contradicts --replica: behind a balancer everybody would be let in; give "
            "--token-file or leave one of them out"
        )
    if not pairs:
        raise ConflictingAccess(
            "--replica needs --token-file or --token, the same for all replicas, or TLS and so "
            "paired devices (--tls on): behind a balancer everybody comes from loopback, and a "
            "token that is made at the start would be another one at each replica"
        )
    return AccessPolicy(TokenBook({}))


def is_loopback(host: str) -> bool:
    """Whether ``host`` (a name or an IP address) can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
