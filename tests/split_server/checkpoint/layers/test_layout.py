"""Where everything lies in a layer file, and indices that are not believed."""

from __future__ import annotations

import json
from hashlib import blake2b

import pytest

from split_server.checkpoint.layers.errors import LayerFileDamaged
from split_server.checkpoint.layers.layout import (
    ALIGNMENT,
    HEAD_BYTES,
    MAX_INDEX_BYTES,
    LayerIndex,
    index_bytes,
    parse_index,
)
from tests.layer_files import index_of


def _parsed(data: bytes) -> LayerIndex:
    head = data[:HEAD_BYTES]
    return parse_index(head, data[HEAD_BYTES : HEAD_BYTES + index_bytes(head)])


def _with(document: object) -> bytes:
    data = json.dumps(document).encode()
    digest = blake2b(data, digest_size=32).digest()
    return b"GLLAYERS" + len(data).to_bytes(4, "little") + digest + data


def test_an_index_is_read_as_it_was_written() -> None:
    index = index_of().with_digests([bytes([at]) * 32 for at in range(5)])
    assert _parsed(index.encoded()) == index


def test_layers_begin_and_end_at_whole_blocks_and_tensors_do_not_overlap() -> None:
    index = index_of()
    assert all(offset % ALIGNMENT == 0 for offset in index.offsets())
    for layer in index.layers:
        one, two = layer.tensors
        assert one.offset % 64 == two.offset % 64 == 0
        assert one.offset + one.size <= two.offset
        assert two.offset + two.size <= layer.size


def test_places_do_not_depend_on_the_digests() -> None:
    index = index_of()
    assert index.with_digests([b"\xff" * 32] * 5).offsets() == index.offsets()


@pytest.mark.parametrize("at", [0, 7, 8, 11, 12, 43, 44, 200])
def test_a_changed_byte_of_the_index_is_noticed(at: int) -> None:
    data = bytearray(index_of().encoded())
    data[at] ^= 4
    with pytest.raises(LayerFileDamaged):
        _parsed(bytes(data))


def test_an_index_without_end_is_not_read() -> None:
    head = b"GLLAYERS" + (MAX_INDEX_BYTES + 1).to_bytes(4, "little") + bytes(32)
    with pytest.raises(LayerFileDamaged, match="too long"):
        index_bytes(head)


_TENSOR = ["one.weight", "f32", [4, 4]]


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"version": 2, "source": "x", "layers": [["00" * 32, [_TENSOR]]]},
        {"version": 1, "source": "x", "layers": []},
        {"version": 1, "source": 7, "layers": [["00" * 32, [_TENSOR]]]},
        {"version": 1, "source": "x", "layers": [["00" * 31, [_TENSOR]]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, []]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, [["one", "i64", [4]]]]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, [["one", "f32", [-4]]]]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, [["one", "f32", [True]]]]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, [["one", "f32", [1] * 9]]]]},
        {"version": 1, "source": "x", "layers": [["00" * 32, [[1, "f32", [4]]]]]},
        {"version": 1, "source": "x", "layers": [7]},
    ],
)
def test_an_index_that_describes_no_layers_is_refused(document: object) -> None:
    with pytest.raises(LayerFileDamaged):
        _parsed(_with(document))
