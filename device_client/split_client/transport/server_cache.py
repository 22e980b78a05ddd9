"""What a server keeps of its user's sessions, asked for and deleted over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from split_client.errors import AnswerInvalid
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import asked_once
from split_wire.errors import MalformedMessage, SplitError
from split_wire.fields import Fields
from split_wire.original.strict_json import parse_object

PATH = "/api/v1/cache"
_MAX_BYTES = 64 * 1024
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class DiskCache:
    """The part on disk: ``files`` of ``bytes`` together, at most ``limit_bytes`` of all users."""

    files: int
    bytes: int
    limit_bytes: int
    ttl_seconds: int


@dataclass(frozen=True, slots=True)
class ServerCache:
    """What is kept of this user in memory and on disk (None: nothing goes there).

    ``reuse``: whether anything is kept at all; ``runs`` of ``bytes`` together, ``pinned_bytes`` of
    them until a time that was asked for; ``ttl_seconds`` after its last use a run goes; ``tiers``:
    in which it keeps something for those that ask for it, the exact one first.
    """

    reuse: bool
    runs: int
    bytes: int
    limit_bytes: int
    ttl_seconds: int
    pinned_bytes: int
    disk: DiskCache | None
    tiers: tuple[str, ...] = ("exact",)


@dataclass(frozen=True, slots=True)
class Purged:
    """What was deleted, memory and disk together."""

    runs: int
    bytes: int


def fetch_server_cache(
    endpoint: Endpoint, token: str | None, connect_timeout: float = 10.0
) -> ServerCache | None:
    """What the server says that it keeps of this user; None: it does not say.

    Raises AnswerInvalid, ServerUnreachable, ConnectionLost, ServerRefused, TokenInvalid.
    """
    body = _exchange("GET", endpoint, token, connect_timeout)
    return None if body is None else _parsed(body, _cache)


def purge_server_cache(
    endpoint: Endpoint, token: str | None, salt: str | None, connect_timeout: float = 10.0
) -> Purged | None:
    """Have the server delete all that it keeps of this user, of sessions with ``salt`` alone where
    there is one; None: it cannot. Raises as :func:`fetch_server_cache`.
    """
    asked = {} if salt is None else {"cache_salt": salt}
    body = _exchange("DELETE", endpoint, token, connect_timeout, asked)
    return None if body is None else _parsed(body, _purged)


def _exchange(
    method: Literal["GET", "DELETE"],
    endpoint: Endpoint,
    token: str | None,
    connect_timeout: float,
    asked: dict[str, str] | None = None,
) -> bytes | None:
    content = json.dumps(asked).encode() if asked else None
    what = "what the server keeps"
    return asked_once(
        endpoint, token, connect_timeout, PATH, what, _MAX_BYTES, method=method, content=content
    )


def _parsed(body: bytes, read: Callable[[dict[str, Any]], _T]) -> _T:
    try:
        return read(parse_object(body, _MAX_BYTES))
    except SplitError as error:
        raise AnswerInvalid(error) from error


def _purged(document: dict[str, Any]) -> Purged:
    fields = Fields(document)
    return Purged(fields.count("runs"), fields.count("bytes"))


def _cache(document: dict[str, Any]) -> ServerCache:
    fields, disk = Fields(document), document.get("disk")
    if disk is not None and not isinstance(disk, dict):
        raise MalformedMessage("'disk' must be an object")
    return ServerCache(
        reuse=fields.code("reuse") != "off",
        runs=fields.count("runs"),
        bytes=fields.count("bytes"),
        limit_bytes=fields.count("limit_bytes"),
        ttl_seconds=_seconds(document),
        pinned_bytes=fields.optional_count("pinned_bytes"),
        disk=None if disk is None else _disk(disk),
        tiers=fields.texts("tiers") or ("exact",),
    )


def _disk(disk: dict[str, Any]) -> DiskCache:
    fields = Fields(disk)
    files, held, limit = (fields.count(name) for name in ("files", "bytes", "limit_bytes"))
    return DiskCache(files, held, limit, _seconds(disk))


def _seconds(document: dict[str, Any]) -> int:
    """Whole seconds; a configuration may have parts of them."""
    value = document.get("ttl_seconds")
    if type(value) is float and 0 <= value < 1e12:
        return round(value)
    return Fields(document).count("ttl_seconds")
