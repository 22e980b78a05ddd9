"""Messages of ``split.v1`` to frames and back.

Unknown keys are ignored; an unknown type raises UnknownMessage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from split_wire.attention import (
    LARGEST_HEADS,
    LARGEST_LAYERS,
    request_field,
    request_value,
    rows_field,
    rows_tensors,
    rows_value,
)
from split_wire.digest import DIGEST_BYTES
from split_wire.errors import (
    MalformedMessage,
    UnknownMessage,
    UnsupportedVersion,
)
from split_wire.fields import Fields
from split_wire.frame import Frame, decode_frame, encode_frame
from split_wire.messages import (
    LARGEST_MAX_CONTEXT,
    LARGEST_MAX_ROWS,
    MAX_MESSAGE_TEXT,
    VERSION,
    Cache,
    ClientMessage,
    Close,
    Closed,
    Failure,
    Message,
    Open,
    Opened,
    Ping,
    Pong,
    Restore,
    Restored,
    Result,
    ServerMessage,
    Step,
)
from split_wire.probe import probe_field, probe_value
from split_wire.returned import INTERACTIVE_ROWS, rows_asked
from split_wire.tensor import Tensor, WireDtype, wire_dtype

_Parsed = TypeVar("_Parsed")


def encode_message(message: Message) -> bytes:
    """The frame of ``message``; fields that hold their default value are left out."""
    return encode_frame(_to_frame(message))


def decode_client_message(data: bytes, max_bytes: int) -> ClientMessage:
    """Parse what a device sent.

    Raises FrameTooLarge, MalformedFrame, MalformedMessage, UnknownMessage, UnsupportedVersion,
    WrongDtype.
    """
    return _parsed(decode_frame(data, max_bytes), _CLIENT_PARSERS)


def decode_server_message(data: bytes, max_bytes: int) -> ServerMessage:
    """Parse what a server sent. Raises as :func:`decode_client_message`."""
    return _parsed(decode_frame(data, max_bytes), _SERVER_PARSERS)


def _parsed(frame: Frame, parsers: Mapping[str, Callable[[Fields, Frame], _Parsed]]) -> _Parsed:
    kind = frame.header.get("type")
    if not isinstance(kind, str):
        raise MalformedMessage("'type' must be text")
    if kind not in parsers:
        raise UnknownMessage(kind)
    return parsers[kind](Fields(frame.header), frame)


def _to_frame(message: Message) -> Frame:
    match message:
        case Open():
            header = _compact("open", message, always=("version",), skip=("probe",))
            return Frame({**header, **probe_value(message.probe)})
        case Opened():
            return Frame(_compact("opened", message, always=("version",)))
        case Restore():
            header = _compact("restore", message, skip=("probe",))
            return Frame({**header, **probe_value(message.probe)})
        case Step():
            header = _compact("step", message, skip=("embeddings",))
            if message.attention is not None:
                header["attention"] = request_value(message.attention)
            return Frame(header, {"embeddings": message.embeddings})
        case Result():
            header = _compact("result", message, skip=("hidden",))
            if message.attention is None:
                return Frame(header, {"hidden": message.hidden})
            header["attention"] = rows_value(message.attention)
            return Frame(header, {"hidden": message.hidden, **rows_tensors(message.attention)})
        case Failure():
            return Frame(_compact("error", message, always=("retryable",)))
        case Restored() | Close() | Closed() | Ping() | Pong():
            return Frame(_compact(type(message).__name__.lower(), message))


def _compact(
    kind: str, message: Message, always: tuple[str, ...] = (), skip: tuple[str, ...] = ()
) -> dict[str, Any]:
    header: dict[str, Any] = {"type": kind}
    for name, spec in type(message).__dataclass_fields__.items():
        value = getattr(message, name)
        if name in skip or (value == spec.default and name not in always):
            continue
        header[name] = list(value) if isinstance(value, tuple) else value
    return header


def _one_tensor(frame: Frame, name: str) -> Tensor:
    tensor = frame.tensors.get(name)
    if tensor is None:
        raise MalformedMessage(f"the tensor {name!r} is missing")
    return tensor


def _cache(value: str | None) -> Cache:
    if value is None or value == "exact":
        return "exact"
    if value == "off":
        return "off"
    raise MalformedMessage("'cache' must be 'exact' or 'off'")


def _optional_dtype(value: str | None) -> WireDtype | None:
    return None if value is None else wire_dtype(value)


def _version(fields: Fields) -> int:
    """Checked before the fields that another version may have changed are read."""
    version = fields.count("version")
    if version != VERSION:
        raise UnsupportedVersion(version, VERSION)
    return version


def _parse_open(fields: Fields, _: Frame) -> Open:
    return Open(
        version=_version(fields),
        manifest=fields.optional_text("manifest"),
        dtype=_optional_dtype(fields.optional_text("dtype")),
        capabilities=fields.texts("capabilities"),
        probe=probe_field(fields),
        cache_salt=fields.optional_text("cache_salt"),
        cache=_cache(fields.optional_text("cache")),
        cache_group=fields.optional_text("cache_group"),
        share_until=fields.optional_count("share_until"),
    )


def _parse_restore(fields: Fields, _: Frame) -> Restore:
    probe = probe_field(fields)
    if probe is None:
        raise MalformedMessage("'known' must be at least 1")
    start, prefix = fields.count("start"), fields.digest("prefix", DIGEST_BYTES)
    return Restore(fields.text("session"), start, prefix, probe)


def _parse_restored(fields: Fields, _: Frame) -> Restored:
    return Restored(
        session=fields.text("session"),
        start=fields.count("start"),
        known=fields.count("known"),
        cached=fields.count("cached"),
        prefix=fields.digest("prefix", DIGEST_BYTES),
    )


def _interactive(fields: Fields) -> int:
    rows = fields.optional_count("interactive_rows", LARGEST_MAX_ROWS, INTERACTIVE_ROWS)
    if rows < 1:
        raise MalformedMessage("'interactive_rows' must be at least 1")
    return rows


def _parse_opened(fields: Fields, _: Frame) -> Opened:
    return Opened(
        version=_version(fields),
        session=fields.text("session"),
        manifest=fields.text("manifest"),
        dtype=wire_dtype(fields.text("dtype")),
        max_rows=fields.count("max_rows", LARGEST_MAX_ROWS),
        max_context=fields.count("max_context", LARGEST_MAX_CONTEXT),
        capabilities=fields.texts("capabilities"),
        layers=fields.optional_count("layers", LARGEST_LAYERS),
        heads=fields.optional_count("heads", LARGEST_HEADS),
        cached=fields.optional_count("cached"),
        prefix=fields.optional_digest("prefix", DIGEST_BYTES),
        interactive_rows=_interactive(fields),
    )


def _parse_step(fields: Fields, frame: Frame) -> Step:
    embeddings = _one_tensor(frame, "embeddings")
    return Step(
        session=fields.text("session"),
        step=fields.count("step"),
        start=fields.count("start"),
        prefix=fields.digest("prefix", DIGEST_BYTES),
        embeddings=embeddings,
        rows=rows_asked(frame.header.get("rows"), embeddings.rows),
        adapter=fields.optional_text("adapter"),
        attention=request_field(frame.header.get("attention")),
    )


def _parse_result(fields: Fields, frame: Frame) -> Result:
    return Result(
        session=fields.text("session"),
        step=fields.count("step"),
        cached=fields.count("cached"),
        hidden=_one_tensor(frame, "hidden"),
        compute_us=fields.optional_count("compute_us"),
        queue_us=fields.optional_count("queue_us"),
        prefix=fields.optional_digest("prefix", DIGEST_BYTES),
        attention=rows_field(frame.header.get("attention"), frame.tensors),
        reused=fields.optional_count("reused"),
    )


def _parse_failure(fields: Fields, frame: Frame) -> Failure:
    step = fields.count("step") if frame.header.get("step") is not None else None
    return Failure(
        code=fields.code("code"),
        message=fields.printable("message", MAX_MESSAGE_TEXT),
        retryable=fields.flag("retryable", default=False),
        retry_after=fields.optional_seconds("retry_after"),
        session=fields.optional_text("session"),
        step=step,
    )


_CLIENT_PARSERS: dict[str, Callable[[Fields, Frame], ClientMessage]] = {
    "open": _parse_open,
    "restore": _parse_restore,
    "step": _parse_step,
    "close": lambda fields, _: Close(fields.text("session"), fields.flag("keep", True)),
    "ping": lambda _, __: Ping(),
}
_SERVER_PARSERS: dict[str, Callable[[Fields, Frame], ServerMessage]] = {
    "opened": _parse_opened,
    "restored": _parse_restored,
    "result": _parse_result,
    "closed": lambda fields, _: Closed(fields.text("session")),
    "pong": lambda _, __: Pong(),
    "error": _parse_failure,
}
