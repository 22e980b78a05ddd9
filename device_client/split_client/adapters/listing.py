"""The list of adapters of a server or an adapter host, fetched and distrusted."""

from __future__ import annotations

import math
import re
from typing import Any

import httpx

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.errors import AdapterListInvalid
from split_client.errors import ConnectionLost, ServerRefused
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import UNREACHED, http_client
from split_client.transport.reach.diagnosis import unreachable
from split_client.transport.refusal import read_refusal
from split_client.transport.timed import exchange_once
from split_wire.errors import SplitError
from split_wire.fields import Fields
from split_wire.original.strict_json import parse_object

PATH = "/api/v1/adapters"
MAX_BYTES = 8 << 20
MAX_ADAPTERS = 64
_MAX_KEYWORDS = 1000
_MAX_DESCRIPTION = 1000
_MAX_RANK, _MAX_HIDDEN = 64, 1 << 16
_MAX_SCALE = 1e4
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_SECONDS = 20.0
_OK, _NOT_FOUND = 200, 404


def fetch_adapters(
    endpoint: Endpoint, token: str | None, connect_timeout: float = 10.0
) -> tuple[AdapterInfo, ...]:
    """The adapters at ``endpoint``; a server that does not know of adapters has none.

    Raises AdapterListInvalid, ServerUnreachable, ConnectionLost, ServerRefused, TokenInvalid.
    """
    client = http_client(endpoint, token, connect_timeout)
    timeout = httpx.Timeout(_SECONDS, connect=connect_timeout)
    request = client.build_request("GET", endpoint.url + PATH, timeout=timeout)
    try:
        with exchange_once(client, request, _SECONDS) as response:
            body = _body(response)
    except UNREACHED as error:
        raise unreachable(endpoint, error, connect_timeout) from error
    except httpx.HTTPError as error:
        raise ConnectionLost(str(error) or type(error).__name__) from error
    if response.status_code == _NOT_FOUND:
        return ()
    if response.status_code != _OK:
        status = f"HTTP status {response.status_code} for the list of adapters"
        raise read_refusal(body) or ServerRefused("not_a_split_server", status)
    return parse_listing(body)


def parse_listing(data: bytes) -> tuple[AdapterInfo, ...]:
    """The adapters of the document ``{"adapters": [...]}``. Raises AdapterListInvalid."""
    try:
        entries = parse_object(data, MAX_BYTES).get("adapters")
        if not isinstance(entries, list) or len(entries) > MAX_ADAPTERS:
            raise AdapterListInvalid(f"it is not a list of at most {MAX_ADAPTERS}")
        found = tuple(_adapter(entry) for entry in entries)
    except SplitError as error:
        raise AdapterListInvalid(str(error)) from error
    if len({adapter.name for adapter in found}) != len(found):
        raise AdapterListInvalid("a name occurs twice")
    return found


def _adapter(entry: Any) -> AdapterInfo:
    if not isinstance(entry, dict):
        raise AdapterListInvalid("an entry is not an object")
    fields, name = Fields(entry), entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise AdapterListInvalid("a name has other characters than letters, digits, '.', '_', '-'")
    rank, hidden = fields.count("rank", _MAX_RANK), fields.count("hidden_size", _MAX_HIDDEN)
    if not rank or not hidden:
        raise AdapterListInvalid(f"{name} has no rows or no columns")
    return AdapterInfo(
        name,
        fields.printable("description", _MAX_DESCRIPTION),
        rank,
        hidden,
        _scale(name, entry.get("scale")),
        fields.texts("keywords", _MAX_KEYWORDS),
        fields.flag("encrypted", default=False),
    )


def _scale(name: str, scale: Any) -> float:
    if type(scale) not in (int, float) or not math.isfinite(scale) or abs(scale) > _MAX_SCALE:
        raise AdapterListInvalid(f"the scale of {name} is not a number of at most {_MAX_SCALE:g}")
    return float(scale)


def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > MAX_BYTES:
            raise AdapterListInvalid(f"it is longer than {MAX_BYTES} bytes")
    return bytes(body)
