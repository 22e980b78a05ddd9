"""Messages of ``split.v1`` to frames and back.

Unknown keys are ignored; an unknown type raises UnknownMessage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from split_wire.attention import request_value, rows_tensors, rows_value
from split_wire.documents.chunks import chunks_value
from split_wire.documents.finding import Find, Found
from split_wire.errors import MalformedMessage, UnknownMessage
from split_wire.fields import Fields
from split_wire.frame import Frame, decode_frame, encode_frame
from split_wire.hiding.seeing import Hidden, Hide, Show, seeing_header
from split_wire.messages import (
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
    Splice,
    Step,
)
from split_wire.parsing import CLIENT_PARSERS, SERVER_PARSERS
from split_wire.probe import probe_value
from split_wire.splice import spans_value

_Parsed = TypeVar("_Parsed")


def encode_message(message: Message) -> bytes:
    """The frame of ``message``; fields that hold their default value are left out."""
    return encode_frame(_to_frame(message))


def decode_client_message(data: bytes, max_bytes: int) -> ClientMessage:
    """Parse what a device sent.

    Raises FrameTooLarge, MalformedFrame, MalformedMessage, UnknownMessage, UnsupportedVersion,
    WrongDtype.
    """
    return _parsed(decode_frame(data, max_bytes), CLIENT_PARSERS)


def decode_server_message(data: bytes, max_bytes: int) -> ServerMessage:
    """Parse what a server sent. Raises as :func:`decode_client_message`."""
    return _parsed(decode_frame(data, max_bytes), SERVER_PARSERS)


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
            header = _compact("opened", message, always=("version",), skip=("tiers",))
            return Frame({**header, **_tiers(message)})
        case Restore():
            header = _compact("restore", message, skip=("probe",))
            return Frame({**header, **probe_value(message.probe)})
        case Splice():
            header = _compact("splice", message, skip=("embeddings", "spans", "chunks"))
            header.update(spans=spans_value(message.spans), **_chunks(message))
            return Frame(header, {"embeddings": message.embeddings})
        case Step():
            header = _compact("step", message, skip=("embeddings", "chunks"))
            header.update(_chunks(message))
            if message.attention is not None:
                header["attention"] = request_value(message.attention)
            return Frame(header, {"embeddings": message.embeddings})
        case Result():
            header = _compact("result", message, skip=("hidden", "tiers"))
            header.update(_tiers(message))
            if message.attention is None:
                return Frame(header, {"hidden": message.hidden})
            header["attention"] = rows_value(message.attention)
            return Frame(header, {"hidden": message.hidden, **rows_tensors(message.attention)})
        case Failure():
            return Frame(_compact("error", message, always=("retryable",)))
        case Restored():
            header = _compact("restored", message, skip=("tiers",))
            return Frame({**header, **_tiers(message)})
        case Hide() | Show() | Hidden():
            return Frame(seeing_header(message))
        case Find():
            header = _compact("find", message, skip=("chunks",))
            return Frame({**header, **_chunks(message)})
        case Close() | Closed() | Found() | Ping() | Pong():
            return Frame(_compact(type(message).__name__.lower(), message))


def _tiers(message: Opened | Restored | Result) -> dict[str, Any]:
    """The map of what is not exact; none where all is."""
    counts = message.tiers.counts()
    return {"tiers": counts} if counts else {}


def _chunks(message: Step | Find) -> dict[str, Any]:
    """The list of chunks; none where there are none."""
    return {"chunks": chunks_value(message.chunks)} if message.chunks else {}


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
