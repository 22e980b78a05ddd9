"""The principal of a request. Sessions, budgets and queues are kept per principal."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.types import Scope

LOCAL = "local"
ANONYMOUS = "anonymous"
OWNER = "owner"
# Principals of paired devices; no name of a tokens file has a colon.
DEVICE_PREFIX = "device:"
_KEY = "split.principal"
_CREDENTIAL = "split.credential"


@dataclass(frozen=True, slots=True)
class Credential:
    """What let a request in: ``principal`` and the SHA-256 of its ``token``.

    The digest of a device is empty: its principal has that one token. ``operator``: whether it is
    marked as that of somebody who runs the server, which is no part of whose it is.
    """

    principal: str
    token: bytes = b""
    operator: bool = field(default=False, compare=False)

    @property
    def is_device(self) -> bool:
        """Whether it is a paired device's."""
        return self.principal.startswith(DEVICE_PREFIX)


def set_principal(scope: Scope, name: str) -> None:
    """Record the principal that was authenticated."""
    scope[_KEY] = name


def principal_of(scope: Scope) -> str:
    """The authenticated principal; a KeyError means that a route lies outside the guard."""
    name: str = scope[_KEY]
    return name


def set_credential(scope: Scope, credential: Credential) -> None:
    """Record what let the request in, which may be taken back while it runs."""
    scope[_CREDENTIAL] = credential


def credential_of(scope: Scope) -> Credential | None:
    """None where nobody is asked for a token, and on public paths."""
    found: Credential | None = scope.get(_CREDENTIAL)
    return found


def is_operator(scope: Scope) -> bool:
    """Whether a request is that of somebody who runs the server: with a marked token, or, where
    nobody is asked for one, on this machine.
    """
    found = credential_of(scope)
    if found is not None:
        return found.operator
    return scope.get(_KEY) == LOCAL
