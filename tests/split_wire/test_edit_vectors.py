"""The vectors of edits on disk: what the code builds, decodes, encodes and calls what is cached."""

from __future__ import annotations

import json
import math
import struct
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from scripts.vectors.run import FOLDER, build, render
from scripts.vectors.wire.fields import describe
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.messages import Splice
from split_wire.splice import end_of, spans_value
from tests.split_wire.frames import code_of

PATH: Path = FOLDER / "edits.json"
VECTORS: dict[str, Any] = json.loads(PATH.read_text("ascii"))
LIMIT = VECTORS["max_bytes"]
SEED = blake2b(b"", digest_size=16, person=b"split.v1 chunk\0\0").digest()
DECODERS = {"server": decode_client_message, "device": decode_server_message}


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def test_the_file_is_what_the_script_writes() -> None:
    assert PATH.read_text("ascii") == render(build("edits"))


@named(VECTORS["splices"])
def test_a_splice_decodes_to_its_fields_and_encodes_to_its_bytes(case: dict[str, Any]) -> None:
    message = decode_client_message(bytes.fromhex(case["frame"]), LIMIT)
    assert isinstance(message, Splice)
    told = case["fields"]
    assert spans_value(message.spans) == told["spans"]
    assert (message.start, message.step, message.blend) == (
        told["start"],
        told["step"],
        told["blend"],
    )
    assert message.end == case["cached"] == message.start + len(case["digests"])
    assert encode_message(message).hex() == case["frame"]


@named(VECTORS["splices"])
def test_what_lies_behind_a_splice_is_called_as_the_page_of_the_protocol_says(
    case: dict[str, Any],
) -> None:
    message = decode_client_message(bytes.fromhex(case["frame"]), LIMIT)
    assert isinstance(message, Splice)
    held = [bytes.fromhex(each) for each in VECTORS["held"]]
    numbers = lambda *each: struct.pack(f"<{len(each)}Q", *each)  # noqa: E731
    said = numbers(len(message.spans))
    for index, span in enumerate(message.spans):
        ends = held[span.old] + held[span.old + span.rows] if not message.sources else b""
        source = message.sources[16 * index : 16 * index + 16]
        said += (ends or SEED + source) + numbers(*span)
    rows = message.embeddings
    said += rows.dtype.encode() + bytes(rows.data) + bytes(rows.scales)
    said += struct.pack("<d", message.blend) if message.blend else b""
    mark = named_by(said)
    first = message.spans[0].new - message.start
    digests = [bytes.fromhex(each) for each in case["digests"]]
    before = digests[first - 1] if first else held[message.start]
    for after in digests[first:]:
        assert after == named_by(before + mark)
        before = after
    end = end_of(message.start, message.spans, rows.rows, message.blend)
    assert end - message.start == len(digests)


def named_by(said: bytes) -> bytes:
    return blake2b(said, digest_size=16, person=b"split.v1 splice\0").digest()


def test_a_chunk_is_named_by_its_rows_as_the_page_of_the_protocol_says() -> None:
    rows = VECTORS["chunk"]["rows"]
    data, (count, width) = bytes.fromhex(rows["data"]), rows["shape"]
    name = SEED
    for at in range(count):
        row = data[2 * width * at : 2 * width * (at + 1)]
        linked = name + rows["dtype"].encode() + row
        name = blake2b(linked, digest_size=16, person=b"split.v1 prefix\0").digest()
    assert name.hex() == VECTORS["chunk"]["name"]


@named(VECTORS["chunks"])
def test_what_is_said_of_chunks_decodes_to_its_fields(case: dict[str, Any]) -> None:
    message = DECODERS[case["to"]](bytes.fromhex(case["frame"]), LIMIT)
    told = json.loads(json.dumps(describe(message)))
    assert told == case["fields"]
    assert encode_message(message).hex() == case["frame"]


@named(VECTORS["seeing"])
def test_what_hides_rows_decodes_to_its_fields(case: dict[str, Any]) -> None:
    message = DECODERS[case["to"]](bytes.fromhex(case["frame"]), LIMIT)
    assert type(message).__name__.lower() == case["fields"]["type"]
    spans = [list(span) for span in message.spans]  # type: ignore[union-attr]
    assert spans == case["fields"]["spans"]
    assert encode_message(message).hex() == case["frame"]


@named(VECTORS["malformed"])
def test_what_is_refused_has_its_code(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["frame"])
    assert code_of(lambda: decode_client_message(data, LIMIT)) == case["error"]


def test_no_share_is_lost_to_rounding() -> None:
    shares = [case["fields"]["blend"] for case in VECTORS["splices"]]
    assert {0.0, 0.15, 0.5} == set(shares)
    assert all(map(math.isfinite, shares))
