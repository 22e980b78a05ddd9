"""Vectors of edits inside what is cached: frames that move and hide rows, and take those of chunks,
the names of what is cached then, and frames that are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scripts.vectors.wire.fields import describe, describe_tensor
from scripts.vectors.wire.messages import LIMIT, MANIFEST, SESSION, named, padded, rows
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.documents.chunks import Chunk, chunk_name
from split_wire.documents.finding import Find, Found
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.messages import Close, Message, Splice, Step
from split_wire.splice import Kept, spans_value, spliced

_HELD, _WIDTH, _START = 40, 4, 5
_NAMED = named(_HELD)


@dataclass(frozen=True, slots=True)
class _Edit:
    """``spans`` behind the first positions of what is cached, and so many rows that are brought."""

    name: str
    spans: tuple[Kept, ...]
    rows: int
    blend: float = 0.0
    sources: bytes = b""


_CHUNK = rows(70, _WIDTH, "bf16")
_CHUNKS = (Chunk(9, 64), Chunk(73, 70))
_EDITS = (
    _Edit("one span nearer", (Kept(12, 7, 20),), 4),
    _Edit("one span further, with nothing behind it", (Kept(6, 9, 10),), 4),
    _Edit("two spans", (Kept(6, 6, 9), Kept(20, 18, 20)), 6),
    _Edit("a span at the start, so that no row before it is named as ever", (Kept(8, 5, 30),), 1),
    _Edit("a share of the rows computed anew", (Kept(6, 6, 9), Kept(20, 18, 20)), 34, 0.15),
    _Edit("half of them, the largest share", (Kept(12, 7, 20),), 22, 0.5),
    _Edit("rows of chunks", (Kept(8, 13, 62), Kept(8, 83, 40)), 20, 0.0, 2 * chunk_name(_CHUNK)),
)


def _splice(edit: _Edit) -> Splice:
    brought = rows(edit.rows, _WIDTH, "bf16")
    prefix = _NAMED.at(_START)
    spans, blend, sources = edit.spans, edit.blend, edit.sources
    return Splice(SESSION, 3, _START, prefix, brought, spans=spans, blend=blend, sources=sources)


def _described(edit: _Edit) -> dict[str, Any]:
    splice = _splice(edit)
    frame = encode_message(splice)
    read = describe(decode_client_message(frame, LIMIT))
    read["spans"] = spans_value(edit.spans)
    rows_, blend, sources = splice.embeddings, edit.blend, edit.sources
    digests = spliced(_NAMED, _START, edit.spans, rows_, blend, sources)
    told = {"name": edit.name, "frame": frame.hex(), "fields": read, "cached": splice.end}
    return {**told, "digests": [digest.hex() for digest in digests]}


def _seen() -> Iterator[tuple[str, str, Message]]:
    prefix = _NAMED.at(_HELD)
    yield "hide two spans", "server", Hide(SESSION, _HELD, prefix, ((4, 9), (12, 30)))
    yield "hide beside a message", "server", Hide(SESSION, _HELD, prefix, ((4, 9),), ((33, 40),))
    yield "show one", "server", Show(SESSION, _HELD, prefix, ((4, 9),))
    yield "hidden", "device", Hidden(SESSION, _HELD, ((4, 9), (12, 30)))
    yield "nothing hidden", "device", Hidden(SESSION, _HELD, ())


def _chunks() -> Iterator[tuple[str, str, Message]]:
    name, prefix = chunk_name(_CHUNK), _NAMED.at(_HELD)
    yield "find two chunks", "server", Find(SESSION, _CHUNKS, 2 * name)
    yield "one of them found", "device", Found(SESSION, (1,))
    yield "none found", "device", Found(SESSION)
    step = Step(SESSION, 3, _HELD, prefix, rows(34, _WIDTH, "bf16"), chunks=_CHUNKS)
    yield "a step in chunks", "server", step
    yield "a chunk forgotten", "server", Close(SESSION, False, name)


def _malformed() -> Iterator[dict[str, Any]]:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("no spans", {"spans": []}),
        ("spans that are a map", {"spans": {"0": 1}}),
        ("a span of two numbers", {"spans": [[12, 7]]}),
        ("a span without rows", {"spans": [[12, 7, 0]]}),
        ("a span that is true", {"spans": [[12, True, 20]]}),
        ("a span of halves", {"spans": [[12, 7.0, 20]]}),
        ("a span below zero", {"spans": [[-1, 7, 20]]}),
        ("a span before the start", {"spans": [[4, 7, 20]]}),
        ("a span to before the start", {"spans": [[12, 4, 20]]}),
        ("spans that overlap", {"spans": [[6, 6, 9], [14, 18, 20]]}),
        ("spans that would overlap", {"spans": [[6, 6, 9], [20, 14, 20]]}),
        ("spans in another order", {"spans": [[20, 18, 20], [6, 6, 9]]}),
        ("too few rows between", {"spans": [[12, 10, 20]]}),
        ("a blend that is not a number", {"blend": float("nan")}),
        ("a blend without bounds", {"blend": float("inf")}),
        ("a blend below zero", {"blend": -0.1}),
        ("a blend of more than half", {"blend": 0.6}),
        ("a blend that is text", {"blend": "0.15"}),
        ("a blend that is true", {"blend": True}),
        ("a blend whose rows end within a span", {"blend": 0.15}),
        ("sources for other spans", {"sources": bytes(32)}),
        ("sources that are cut", {"sources": bytes(15)}),
        ("a chunk before the step", {"chunks": [[100, 64]]}),
        ("a short chunk", {"chunks": [[5, 63]]}),
    ]
    header = {"type": "splice", "session": SESSION, "step": 3, "start": _START}
    header |= {"prefix": _NAMED.at(_START), "spans": [[12, 7, 20]]}
    header |= {"tensors": [["embeddings", "f32", [4, 2]]]}
    for name, fields in wrong:
        data = padded({**header, **fields}, bytes(32))
        yield {"name": name, "frame": data.hex(), "error": "malformed_message"}


def build() -> dict[str, Any]:
    """The vectors, as tests/vectors/README.md describes them."""
    seen, chunks = [], list[dict[str, Any]]()
    for name, to, message in _seen():
        frame = encode_message(message)
        read = decode_client_message if to == "server" else decode_server_message
        fields = describe(read(frame, LIMIT))
        for span in ("spans", "message"):
            if span in fields:
                fields[span] = [list(each) for each in fields[span]]
        seen.append({"name": name, "to": to, "frame": frame.hex(), "fields": fields})
    for name, to, message in _chunks():
        frame = encode_message(message)
        read = decode_client_message if to == "server" else decode_server_message
        told = {"name": name, "to": to, "frame": frame.hex()}
        chunks.append({**told, "fields": describe(read(frame, LIMIT))})
    return {
        "format": 1,
        "manifest": MANIFEST,
        "max_bytes": LIMIT,
        "held": [_NAMED.at(at).hex() for at in range(_HELD + 1)],
        "splices": [_described(edit) for edit in _EDITS],
        "seeing": seen,
        "chunk": {"rows": describe_tensor(_CHUNK), "name": chunk_name(_CHUNK).hex()},
        "chunks": chunks,
        "malformed": list(_malformed()),
    }
