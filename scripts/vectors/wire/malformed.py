"""Frames that a reader refuses, each with the code of its refusal."""

from __future__ import annotations

from typing import Any

import msgpack

from scripts.vectors.wire.messages import CHAIN, LIMIT, SESSION, frame, padded, rows
from scripts.vectors.wire.probes import answers, questions
from split_wire.codec import encode_message
from split_wire.messages import Close, Ping, Step

_STEP: dict[str, Any] = {
    "type": "step",
    "session": SESSION,
    "step": 1,
    "start": 0,
    "prefix": CHAIN.at(0),
    "tensors": [["embeddings", "f32", [1, 2]]],
}
_ROW = bytes(8)
_OPENED: dict[str, Any] = {
    "type": "opened",
    "version": 1,
    "session": SESSION,
    "manifest": "m",
    "dtype": "f32",
    "max_rows": 512,
    "max_context": 4096,
}
_RESULT: dict[str, Any] = {
    "type": "result",
    "session": SESSION,
    "step": 1,
    "cached": 1,
    "tensors": [["hidden", "f32", [1, 2]]],
}


def _with(header: dict[str, Any], **changes: Any) -> bytes:
    kept = {key: value for key, value in {**header, **changes}.items() if value is not ...}
    return padded(kept, _ROW) if kept.get("tensors") else frame(kept)


def _frames() -> list[tuple[str, bytes, str]]:
    step = encode_message(Step(SESSION, 1, 0, CHAIN.at(0), rows(1, 3, "i8")))
    ping = encode_message(Ping())
    deep = b"\x82\xa4type\xa4ping\xa1x" + b"\x91" * 2000 + b"\xc0"
    wide = b"\x82\xa4type\xa4ping\xa1x" + b"\xdc\x10\x00" + b"\xc0" * 4096
    return [
        ("no bytes", b"", "malformed_frame"),
        ("less than the prefix", ping[:7], "malformed_frame"),
        ("another magic", b"SPL2" + ping[4:], "malformed_frame"),
        ("a header longer than the frame", ping[:-1], "malformed_frame"),
        ("a header of 2^32 - 1 bytes", frame(b"\x80", length=2**32 - 1), "malformed_frame"),
        ("an empty header", frame(b""), "malformed_frame"),
        ("a header that is a list", frame(msgpack.packb([1])), "malformed_frame"),
        ("a header with a number for a key", frame({1: 2}), "malformed_frame"),
        ("a header with bytes for a key", frame({b"type": "ping"}), "malformed_frame"),
        ("a header with two values", frame(b"\x80\x80"), "malformed_frame"),
        ("a header cut short", frame(b"\x81\xa4type"), "malformed_frame"),
        ("a reserved msgpack byte", frame(b"\x81\xa4type\xc1"), "malformed_frame"),
        ("text that is not UTF-8", frame(b"\x81\xa4type\xa2\xc3\x28"), "malformed_frame"),
        ("lists nested too deeply", frame(deep), "malformed_frame"),
        ("a list of more than 1024 items", frame(wide), "malformed_frame"),
        ("bytes left over", ping + b"\0", "malformed_frame"),
        ("a tensor cut short", step[:-1], "malformed_frame"),
        ("a tensor that is missing", frame(_STEP), "malformed_frame"),
        ("padding that is not zero", padded(_STEP, _ROW, filler=b"\1"), "malformed_frame"),
        ("a shape larger than the frame", _tensors("f32", [2**28, 2**28]), "malformed_frame"),
        ("no type", frame({"session": SESSION}), "malformed_message"),
        ("a type that is not text", frame({"type": 1}), "malformed_message"),
        (
            "tensors that are a map",
            frame({"type": "ping", "tensors": {}}),
            "malformed_message",
        ),
        ("two tensors of one name", _twins(), "malformed_message"),
        ("a tensor without a shape", _with(_STEP, tensors=[["x", "f32"]]), "malformed_message"),
        ("a shape of one number", _tensors("f32", [2]), "malformed_message"),
        ("a shape of three numbers", _tensors("f32", [1, 1, 2]), "malformed_message"),
        ("a negative shape", _tensors("f32", [-1, 2]), "malformed_message"),
        ("a width of zero", _tensors("f32", [1, 0]), "malformed_message"),
        ("a shape of true", _tensors("f32", [True, 2]), "malformed_message"),
        ("a shape of floats", _tensors("f32", [1.0, 2.0]), "malformed_message"),
        ("another dtype", _tensors("f64", [1, 1]), "wrong_dtype"),
        ("positions in place of rows", _tensors("i32", [1, 2]), "wrong_dtype"),
        ("a dtype that is a number", _tensors(4, [1, 2]), "wrong_dtype"),
        ("a dtype that is nested deeply", _tensors(_nested(900), [1, 2]), "wrong_dtype"),
    ]


def _tensors(dtype: object, shape: list[Any]) -> bytes:
    return _with(_STEP, tensors=[["embeddings", dtype, shape]])


def _twins() -> bytes:
    return padded({"type": "ping", "tensors": [["x", "f32", [1, 2]]] * 2}, _ROW * 2)


def _nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def _closing(keep: object) -> bytes:
    return frame({"type": "close", "session": SESSION, "keep": keep})


def _to_server() -> list[tuple[str, bytes, str]]:
    bad = "malformed_message"
    return [
        ("a message of the server", frame({"type": "pong"}), "unknown_message"),
        ("an unknown type", frame({"type": "train"}), "unknown_message"),
        ("another version", frame({"type": "open", "version": 2}), "unsupported_version"),
        ("another version, other fields", frame(_later_open()), "unsupported_version"),
        ("open without a version", frame({"type": "open"}), bad),
        ("a version that is true", frame({"type": "open", "version": True}), bad),
        ("open for another dtype", frame(_open(dtype="f64")), "wrong_dtype"),
        ("a manifest that is a number", frame(_open(manifest=5)), bad),
        ("a manifest that is long", frame(_open(manifest="m" * 201)), bad),
        ("capabilities that are text", frame(_open(capabilities="attention")), bad),
        ("too many capabilities", frame(_open(capabilities=["x"] * 65)), bad),
        ("close without a session", frame({"type": "close"}), bad),
        ("close with a keep of 0", _closing(0), bad),
        ("close with a keep that is text", _closing("false"), bad),
        *[
            (f"step without {name}", _with(_STEP, **{name: ...}), bad)
            for name in ("session", "step", "start", "prefix", "tensors")
        ],
        ("a step number that is true", _with(_STEP, step=True), bad),
        ("a step number that is a float", _with(_STEP, step=1.0), bad),
        ("a step number above 2^53 - 1", _with(_STEP, step=2**53), bad),
        ("a negative start", _with(_STEP, start=-1), bad),
        ("a prefix of 15 bytes", _with(_STEP, prefix=bytes(15)), bad),
        ("a prefix that is text", _with(_STEP, prefix="x" * 16), bad),
        ("rows that are unknown", _with(_STEP, rows="some"), bad),
        ("rows of no states", _with(_STEP, rows=0), bad),
        ("rows of a negative number", _with(_STEP, rows=-1), bad),
        ("more rows than the step has", _with(_STEP, rows=2), bad),
        ("rows of a float", _with(_STEP, rows=1.0), bad),
        ("rows of true", _with(_STEP, rows=True), bad),
        ("rows of a list", _with(_STEP, rows=[1]), bad),
        ("attention that is a number", _with(_STEP, attention=1), bad),
        ("attention that is text", _with(_STEP, attention="all"), bad),
        ("attention of some heads", _with(_STEP, attention={"heads": "some"}), bad),
        ("attention of the first head", _with(_STEP, attention={"heads": 0}), bad),
        ("attention in bf16", _with(_STEP, attention={"dtype": "bf16"}), bad),
        ("attention of a negative number", _with(_STEP, attention={"top_k": -1}), bad),
        ("attention of too many", _with(_STEP, attention={"top_k": 4097}), bad),
        ("attention of true", _with(_STEP, attention={"top_k": True}), bad),
        ("attention of no layer", _with(_STEP, attention={"layers": []}), bad),
        ("attention of layers that fall", _with(_STEP, attention={"layers": [1, 0]}), bad),
        ("attention of a layer twice", _with(_STEP, attention={"layers": [1, 1]}), bad),
        ("attention of a negative layer", _with(_STEP, attention={"layers": [-1]}), bad),
        ("attention of a layer that is text", _with(_STEP, attention={"layers": ["0"]}), bad),
        ("attention of a layer that is true", _with(_STEP, attention={"layers": [True]}), bad),
        ("attention that is summed", _with(_STEP, attention={"reduce": "sum"}), bad),
        ("an adapter that is a list", _with(_STEP, adapter=[]), bad),
    ]


def _open(**options: Any) -> dict[str, Any]:
    return {"type": "open", "version": 1, **options}


def _later_open() -> dict[str, Any]:
    return {"type": "open", "version": 2, "manifest": {"digest": b"x"}}


def _to_device() -> list[tuple[str, bytes, str]]:
    bad = "malformed_message"
    return [
        ("a message of the device", encode_message(Close(SESSION)), "unknown_message"),
        ("opened for another version", _with(_OPENED, version=3), "unsupported_version"),
        ("opened with another dtype", _with(_OPENED, dtype="i4"), "wrong_dtype"),
        ("opened without a session", _with(_OPENED, session=...), bad),
        ("opened with endless rows", _with(_OPENED, max_rows=2**17), bad),
        ("opened with an endless context", _with(_OPENED, max_context=2**32), bad),
        ("opened with endless layers", _with(_OPENED, layers=1025), bad),
        ("opened with a negative head", _with(_OPENED, heads=-1), bad),
        ("opened with no interactive rows", _with(_OPENED, interactive_rows=0), bad),
        ("opened with endless interactive rows", _with(_OPENED, interactive_rows=2**17), bad),
        ("opened with endless layers on disk", _with(_OPENED, streamed=1025), bad),
        ("opened with layers on disk of true", _with(_OPENED, streamed=True), bad),
        ("opened with interactive rows of true", _with(_OPENED, interactive_rows=True), bad),
        (
            "result with attention but no rows",
            _with(_RESULT, attention={"layers": 1, "heads": 1}),
            bad,
        ),
        ("result with attention that is true", _with(_RESULT, attention=True), bad),
        ("result with attention of no layer", _result_rows({"heads": 1}), bad),
        ("result with endless heads", _result_rows({"layers": 1, "heads": 1025}), bad),
        ("result with positions that are fractions", _positions("f32"), bad),
        ("result without hidden states", _with(_RESULT, tensors=...), bad),
        ("result with a short prefix", _with(_RESULT, prefix=bytes(4)), bad),
        ("result with a time below zero", _with(_RESULT, compute_us=-1), bad),
        ("error without a code", frame({"type": "error", "message": "x"}), bad),
        ("error with a sentence for a code", frame({"type": "error", "code": "It broke"}), bad),
        ("error with a number for a message", frame(_error(message=5)), bad),
        ("error to retry never", frame(_error(retry_after=float("nan"))), bad),
        ("error retryable perhaps", frame(_error(retryable="yes")), bad),
    ]


def _result_rows(attention: dict[str, int], *more: list[Any]) -> bytes:
    tensors = [*_RESULT["tensors"], ["attention", "f32", [1, 2]], *more]
    header = {**_RESULT, "attention": attention, "tensors": tensors}
    return padded(header, _ROW * len(tensors))


def _positions(dtype: str) -> bytes:
    return _result_rows({"layers": 1, "heads": 1}, ["attention_positions", dtype, [1, 2]])


def _error(**options: Any) -> dict[str, Any]:
    return {"type": "error", "code": "overloaded", **options}


def malformed() -> list[dict[str, Any]]:
    """``to`` is "either" where both directions refuse the frame alike."""
    groups = (
        ("either", _frames()),
        ("server", _to_server() + questions()),
        ("device", _to_device() + answers()),
    )
    cases = [
        {"name": name, "to": to, "frame": data.hex(), "max_bytes": LIMIT, "error": error}
        for to, group in groups
        for name, data, error in group
    ]
    ping = encode_message(Ping())
    too_large = {"name": "a frame over the limit", "to": "either", "frame": ping.hex()}
    return [*cases, {**too_large, "max_bytes": len(ping) - 1, "error": "frame_too_large"}]
