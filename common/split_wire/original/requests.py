"""Requests of the original protocol, as values: text (JSON) or binary.

The binary form is::

    0   4   length n of the JSON, u32 little endian
    4   n   the JSON object
    ..      rows of a ``forward``, f32 little endian, [seq_len, hidden_dim], to the end

Unknown keys are ignored. ``type`` defaults to ``forward``, as HTTP clients leave it out.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from split_wire.errors import (
    FrameTooLarge,
    MalformedMessage,
    TooManyRows,
    UnknownMessage,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.fields import Fields
from split_wire.frame import is_frame
from split_wire.original.strict_json import parse_object
from split_wire.tensor import Tensor

MAX_ROWS = 4096
MAX_NAME = 128
MAX_TEXT = 10_000
MAX_PROBE = 256
MAX_JSON_BYTES = 64 * 1024
_LENGTH = struct.Struct("<I")

Spelling: TypeAlias = Literal["hidden_states", "hidden_states_b64", "binary"]


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask for a pong."""


@dataclass(frozen=True, slots=True)
class Config:
    """Ask what the server serves."""


@dataclass(frozen=True, slots=True)
class Tokenize:
    """Ask for the token ids of ``text``: it shows the server the text."""

    text: str


@dataclass(frozen=True, slots=True)
class Forward:
    """Run ``embeddings`` [n, H], f32 and finite, after the cached positions if ``incremental``.

    ``session`` is the client's own name for its cache, None for one that nothing else can reach;
    ``spelling`` is the form in which the rows came and the reply goes.
    """

    embeddings: Tensor
    session: str | None
    incremental: bool
    expert: str | None
    use_he: bool
    spelling: Spelling


Request: TypeAlias = Ping | Config | Tokenize | Forward


class RequestParser:
    """``hidden_size``: the model's; ``max_rows``: of one request, so that its size is bounded."""

    def __init__(self, hidden_size: int, max_rows: int = MAX_ROWS) -> None:
        self._hidden_size = hidden_size
        self._max_rows = max_rows
        row_bytes = 4 * max_rows * hidden_size
        self.max_binary_bytes = _LENGTH.size + MAX_JSON_BYTES + row_bytes
        self.max_text_bytes = MAX_JSON_BYTES + 4 * -(-row_bytes // 3)

    def text(self, data: str | bytes) -> Request:
        """Parse a text message or HTTP body. Raises errors of ``split_wire.errors``."""
        return self._request(parse_object(data, self.max_text_bytes), None)

    def binary(self, data: bytes) -> Request:
        """Parse a binary message or HTTP body. Raises errors of ``split_wire.errors``."""
        if len(data) > self.max_binary_bytes:
            raise FrameTooLarge(len(data), self.max_binary_bytes)
        if is_frame(data):
            raise MalformedMessage("this is a split.v1 frame; ask for the subprotocol split.v1")
        if len(data) < _LENGTH.size:
            raise MalformedMessage(f"{len(data)} bytes are shorter than the length before the JSON")
        end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        if end > len(data) or end > _LENGTH.size + MAX_JSON_BYTES:
            raise MalformedMessage(f"JSON of {end - _LENGTH.size} bytes does not fit")
        view = memoryview(data)
        return self._request(parse_object(view[_LENGTH.size : end], MAX_JSON_BYTES), view[end:])

    def _request(self, values: dict[str, Any], rows: memoryview | None) -> Request:
        kind = values.get("type", "forward")
        if not isinstance(kind, str):
            raise MalformedMessage("'type' must be text")
        if kind == "forward":
            return self._forward(values, rows)
        if rows:
            raise MalformedMessage(f"{len(rows)} bytes are left over after the JSON")
        match kind:
            case "ping":
                return Ping()
            case "config":
                return Config()
            case "tokenize":
                return Tokenize(text_field(values, "text", MAX_TEXT))
        raise UnknownMessage(kind)

    def _forward(self, values: dict[str, Any], rows: memoryview | None) -> Forward:
        data, spelling = _rows(values, rows)
        fields = Fields(values)
        return Forward(
            embeddings=self._tensor(values, data),
            session=_name(values, "session_id"),
            incremental=fields.flag("incremental", default=False),
            expert=_name(values, "expert_name"),
            use_he=fields.flag("use_he", default=True),
            spelling=spelling,
        )

    def _tensor(self, values: dict[str, Any], data: bytes) -> Tensor:
        fields = Fields(values)
        width = fields.count("hidden_dim") if "hidden_dim" in values else self._hidden_size
        if width != self._hidden_size:
            raise WrongHiddenSize(width, self._hidden_size)
        count = fields.count("seq_len") if "seq_len" in values else None
        rows = len(data) // (4 * width) if count is None else count
        if rows > self._max_rows:
            raise TooManyRows(rows, self._max_rows)
        if rows < 1 or len(data) != 4 * rows * width:
            raise WrongShape((rows, width), f"as many f32 values as {len(data)} bytes hold")
        tensor = Tensor("f32", (rows, width), data)
        tensor.require_finite()
        return tensor


def _rows(values: dict[str, Any], payload: memoryview | None) -> tuple[bytes, Spelling]:
    """The bytes of the rows, copied out of the message, and the spelling they came in."""
    spelled: list[Spelling] = []
    if "hidden_states" in values:
        spelled.append("hidden_states")
    if "hidden_states_b64" in values:
        spelled.append("hidden_states_b64")
    if payload is not None:
        spelled.append("binary")
    if len(spelled) != 1:
        raise MalformedMessage("the rows must come once, as 'hidden_states' or in binary")
    if payload is not None:
        return bytes(payload), "binary"
    encoded = values[spelled[0]]
    if not isinstance(encoded, str):
        raise MalformedMessage(f"{spelled[0]!r} must be base64 text")
    try:
        return base64.b64decode(encoded, validate=True), spelled[0]
    except ValueError as error:
        raise MalformedMessage(f"{spelled[0]!r} is not base64") from error


def _name(values: dict[str, Any], field: str) -> str | None:
    """A name that a client chose; None when it is missing, null or empty."""
    value = values.get(field)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > MAX_NAME or not value.isprintable():
        raise MalformedMessage(f"{field!r} must be at most {MAX_NAME} printable characters")
    return value


def text_field(values: dict[str, Any], field: str, limit: int) -> str:
    """Text that can be tokenized. Raises MalformedMessage if it is missing, long or not Unicode."""
    value = values.get(field)
    if not isinstance(value, str) or len(value) > limit:
        raise MalformedMessage(f"{field!r} must be text of at most {limit} characters")
    try:
        value.encode("utf-8")
    # JSON escapes can spell half of a surrogate pair, which no encoding carries.
    except UnicodeEncodeError as error:
        raise MalformedMessage(f"{field!r} is not Unicode text") from error
    return value
