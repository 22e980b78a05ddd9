"""The principal of a request. Sessions, budgets and queues are kept per principal."""

from __future__ import annotations

from starlette.types import Scope

LOCAL = "local"
ANONYMOUS = "anonymous"
OWNER = "owner"
# Principals of paired devices; no name of a tokens file has a colon.
DEVICE_PREFIX = "device:"
_KEY = "split.principal"


def set_principal(scope: Scope, name: str) -> None:
    """Record the principal that was authenticated."""
    scope[_KEY] = name


def principal_of(scope: Scope) -> str:
    """The authenticated principal; a KeyError means that a route lies outside the guard."""
    name: str = scope[_KEY]
    return name
