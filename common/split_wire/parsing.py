"""Headers and tensors of frames to messages, by the type that the header names."""

from __future__ import annotations

from collections.abc import Callable

from split_wire.attention import LARGEST_HEADS, LARGEST_LAYERS, request_field, rows_field
from split_wire.digest import DIGEST_BYTES
from split_wire.documents.chunks import MOST_CHUNKS, chunks_of_rows
from split_wire.documents.finding import parse_find, parse_found
from split_wire.errors import MalformedMessage, UnsupportedVersion
from split_wire.fields import Fields
from split_wire.frame import Frame
from split_wire.hiding.seeing import parse_hidden, parse_hide, parse_show
from split_wire.messages import (
    LARGEST_MAX_CONTEXT,
    LARGEST_MAX_ROWS,
    MAX_MESSAGE_TEXT,
    VERSION,
    ClientMessage,
    Close,
    Closed,
    Failure,
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
from split_wire.probe import probe_field
from split_wire.returned import INTERACTIVE_ROWS, rows_asked
from split_wire.splice import MOST_SPANS, blend_field, end_of, spans_field
from split_wire.tensor import Tensor, WireDtype, wire_dtype
from split_wire.tiers import cache_asked, inexact_field


def _one_tensor(frame: Frame, name: str) -> Tensor:
    tensor = frame.tensors.get(name)
    if tensor is None:
        raise MalformedMessage(f"the tensor {name!r} is missing")
    return tensor


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
        cache=cache_asked(fields.optional_text("cache")),
        cache_group=fields.optional_text("cache_group"),
        share_until=fields.optional_count("share_until"),
        wait=fields.flag("wait", default=False),
    )


def _parse_restore(fields: Fields, _: Frame) -> Restore:
    probe = probe_field(fields)
    if probe is None:
        raise MalformedMessage("'known' must be at least 1")
    start, prefix = fields.count("start"), fields.digest("prefix", DIGEST_BYTES)
    return Restore(fields.text("session"), start, prefix, probe)


def _parse_restored(fields: Fields, frame: Frame) -> Restored:
    return Restored(
        session=fields.text("session"),
        start=fields.count("start"),
        known=fields.count("known"),
        cached=fields.count("cached"),
        prefix=fields.digest("prefix", DIGEST_BYTES),
        tiers=inexact_field(frame.header.get("tiers")),
    )


def _interactive(fields: Fields) -> int:
    rows = fields.optional_count("interactive_rows", LARGEST_MAX_ROWS, INTERACTIVE_ROWS)
    if rows < 1:
        raise MalformedMessage("'interactive_rows' must be at least 1")
    return rows


def _parse_opened(fields: Fields, frame: Frame) -> Opened:
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
        replica=fields.optional_name("replica"),
        streamed=fields.optional_count("streamed", LARGEST_LAYERS),
        tiers=inexact_field(frame.header.get("tiers")),
    )


def _parse_step(fields: Fields, frame: Frame) -> Step:
    embeddings, start = _one_tensor(frame, "embeddings"), fields.count("start")
    end = start + embeddings.rows
    return Step(
        session=fields.text("session"),
        step=fields.count("step"),
        start=start,
        prefix=fields.digest("prefix", DIGEST_BYTES),
        embeddings=embeddings,
        rows=rows_asked(frame.header.get("rows"), embeddings.rows),
        adapter=fields.optional_text("adapter"),
        attention=request_field(frame.header.get("attention")),
        chunks=chunks_of_rows(frame.header.get("chunks"), start, end),
    )


def _parse_splice(fields: Fields, frame: Frame) -> Splice:
    embeddings, start = _one_tensor(frame, "embeddings"), fields.count("start")
    blend, sources = blend_field(frame.header.get("blend")), _sources(fields)
    spans = frame.header.get("spans")
    kept = spans_field(spans, start, embeddings.rows, blend, sources=sources)
    end = end_of(start, kept, embeddings.rows, blend)
    return Splice(
        session=fields.text("session"),
        step=fields.count("step"),
        start=start,
        prefix=fields.digest("prefix", DIGEST_BYTES),
        embeddings=embeddings,
        spans=kept,
        blend=blend,
        sources=sources,
        chunks=chunks_of_rows(frame.header.get("chunks"), start, end),
    )


def _sources(fields: Fields) -> bytes:
    """Names of chunks, one after the other; empty when the field is missing."""
    if fields.missing("sources"):
        return b""
    return fields.bytes_of_pairs("sources", DIGEST_BYTES, MOST_SPANS)


def _parse_close(fields: Fields, _: Frame) -> Close:
    chunks = b""
    if not fields.missing("chunks"):
        chunks = fields.bytes_of_pairs("chunks", DIGEST_BYTES, MOST_CHUNKS)
    return Close(fields.text("session"), fields.flag("keep", True), chunks)


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
        tiers=inexact_field(frame.header.get("tiers")),
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


# By the type that the header names.
CLIENT_PARSERS: dict[str, Callable[[Fields, Frame], ClientMessage]] = {
    "open": _parse_open,
    "restore": _parse_restore,
    "step": _parse_step,
    "hide": parse_hide,
    "show": parse_show,
    "splice": _parse_splice,
    "find": parse_find,
    "close": _parse_close,
    "ping": lambda _, __: Ping(),
}
SERVER_PARSERS: dict[str, Callable[[Fields, Frame], ServerMessage]] = {
    "opened": _parse_opened,
    "restored": _parse_restored,
    "result": _parse_result,
    "hidden": parse_hidden,
    "found": parse_found,
    "closed": lambda fields, _: Closed(fields.text("session")),
    "pong": lambda _, __: Pong(),
    "error": _parse_failure,
}
