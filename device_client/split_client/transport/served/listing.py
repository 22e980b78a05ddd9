"""The list of models of a server, fetched and distrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from split_client.errors import AnswerInvalid
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import asked_once
from split_wire.errors import MalformedMessage, SplitError
from split_wire.fields import Fields, is_name
from split_wire.original.strict_json import parse_object

State: TypeAlias = Literal["unloaded", "loading", "loaded", "leaving"]

PATH = "/api/v1/models"
MOST_MODELS = 256
_MAX_BYTES = 1 << 20
_SHA256 = 64


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One of a server's models; what it does not tell of one that is not loaded is None or "".

    ``first``: the one at the root; ``manifest``: digest of its manifest; ``bytes`` of its weights
    on the server; ``seconds`` since it was used last.
    """

    name: str
    first: bool
    state: State
    manifest: str | None = None
    family: str = ""
    layers: int | None = None
    context: int | None = None
    dtype: str = ""
    bytes: int | None = None
    seconds: float | None = None


def fetch_served(
    endpoint: Endpoint, token: str | None, connect_timeout: float = 10.0
) -> tuple[ServedModel, ...] | None:
    """The models of the server of ``endpoint``, whichever model that is of; None: the server does
    not list any, so it has one.

    Raises AnswerInvalid, ServerUnreachable, ConnectionLost, ServerRefused, TokenInvalid.
    """
    what = "the list of models"
    body = asked_once(endpoint.root, token, connect_timeout, PATH, what, _MAX_BYTES)
    return None if body is None else parse_served(body)


def parse_served(data: bytes) -> tuple[ServedModel, ...]:
    """The models of the document ``{"models": [...]}``. Raises AnswerInvalid."""
    try:
        entries = parse_object(data, _MAX_BYTES).get("models")
        if not isinstance(entries, list) or not 0 < len(entries) <= MOST_MODELS:
            raise MalformedMessage(f"'models' must be a list of 1 to {MOST_MODELS}")
        found = tuple(map(_model, entries))
        if len({model.name for model in found}) != len(found):
            raise MalformedMessage("a model's name occurs twice")
    except SplitError as error:
        raise AnswerInvalid(error) from error
    return found


def _model(entry: Any) -> ServedModel:
    if not isinstance(entry, dict):
        raise MalformedMessage("an entry of 'models' must be an object")
    fields, name, state = Fields(entry), entry.get("name"), entry.get("state")
    if not isinstance(name, str) or not is_name(name):
        raise MalformedMessage("'name' must be 1 to 64 letters, digits and '._-'")
    if state not in get_args(State):
        raise MalformedMessage(f"'state' must be one of {', '.join(get_args(State))}")
    return ServedModel(
        name,
        fields.flag("first", default=False),
        cast(State, state),
        _digest(entry.get("manifest")),
        fields.printable("family", _SHA256),
        _optional(fields, "layers"),
        _optional(fields, "context"),
        fields.printable("dtype", _SHA256),
        _optional(fields, "bytes"),
        fields.optional_seconds("seconds"),
    )


def _optional(fields: Fields, name: str) -> int | None:
    return None if fields.missing(name) else fields.count(name)


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and len(value) == _SHA256 and set(value) <= set("0123456789abcdef"):
        return value
    raise MalformedMessage("'manifest' must be a SHA-256 in hexadecimal digits")
