from __future__ import annotations

import struct
import tracemalloc

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.errors import (
    FrameTooLarge,
    MalformedFrame,
    MalformedMessage,
    WrongDtype,
)
from split_wire.frame import (
    MAX_HEADER_BYTES,
    MAX_TENSORS,
    Frame,
    decode_frame,
    encode_frame,
    is_frame,
)
from split_wire.tensor import Tensor
from tests.split_wire.frames import LIMIT, code_of, raw_frame, with_tensor
from tests.split_wire.strategies import tensors

FRAME_ERRORS = {None, "malformed_frame", "malformed_message", "wrong_dtype"}


def test_a_frame_without_tensors_is_a_prefix_and_a_msgpack_map() -> None:
    assert encode_frame(Frame({"type": "ping"})) == (
        b"SPL1" + b"\x0b\x00\x00\x00" + b"\x81" + b"\xa4type" + b"\xa4ping"
    )


def test_a_tensor_starts_at_the_next_multiple_of_eight_and_ends_the_frame() -> None:
    values = np.array([[1.0, -2.0, 0.5]], "<f4")
    frame = encode_frame(Frame({"type": "x"}, {"t": Tensor.from_f32(values, "f32")}))
    header = (
        b"\x82\xa4type\xa1x"
        b"\xa7tensors\x91\x93\xa1t\xa3f32\x92\x01\x03"  # [["t", "f32", [1, 3]]]
    )
    assert frame == (
        b"SPL1" + struct.pack("<I", len(header)) + header
        + bytes(-(8 + len(header)) % 8)
        + b"\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x00\x3f"
    )  # fmt: skip


def test_the_scales_of_an_i8_tensor_follow_its_rows_at_a_multiple_of_eight() -> None:
    rows, scales = b"\x01\x02\x03\xff\xfe\xfd", b"\x00\x00\x80\x3f\x00\x00\x00\x40"
    frame = encode_frame(Frame({"a": 1}, {"t": Tensor("i8", (2, 3), rows, scales)}))
    body = frame[8 + struct.unpack_from("<I", frame, 4)[0] :].lstrip(b"\x00")
    assert body == rows + b"\x00\x00" + scales
    assert frame.index(rows) % 8 == 0
    assert frame.index(scales) % 8 == 0


@given(st.lists(tensors(), max_size=4), st.integers(0, 16))
def test_every_tensor_and_its_scales_lie_at_multiples_of_eight(
    many: list[Tensor], pad: int
) -> None:
    named = {str(i): tensor for i, tensor in enumerate(many)}
    data = encode_frame(Frame({"pad": "x" * pad}, named))
    whole = np.frombuffer(data, np.uint8)
    decoded = decode_frame(data, LIMIT)
    for name, tensor in named.items():
        for part, original in (
            (decoded.tensors[name].data, tensor.data),
            (decoded.tensors[name].scales, tensor.scales),
        ):
            assert part == original
            if len(part):
                address = np.frombuffer(part, np.uint8).ctypes.data - whole.ctypes.data
                assert address % 8 == 0


@given(st.lists(tensors(), max_size=3))
def test_a_frame_comes_back_as_it_was_sent(many: list[Tensor]) -> None:
    sent = Frame({"type": "x", "n": 2**40, "b": b"\x00"}, {str(i): t for i, t in enumerate(many)})
    assert decode_frame(encode_frame(sent), LIMIT) == sent


def test_tensors_are_views_that_copy_nothing() -> None:
    data = encode_frame(Frame({}, {"t": Tensor("f32", (1, 2), bytes(8))}))
    tensor = decode_frame(data, LIMIT).tensors["t"]
    assert np.shares_memory(tensor.array(), np.frombuffer(data, np.uint8))
    assert not tensor.array().flags.writeable


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8"])
def test_a_frame_cut_at_any_byte_is_malformed(dtype: str) -> None:
    rows = Tensor.from_f32(np.ones((3, 5), np.float32), dtype)  # type: ignore[arg-type]
    data = encode_frame(Frame({"type": "step"}, {"a": rows, "b": rows}))
    decode_frame(data, LIMIT)
    for size in range(len(data)):
        with pytest.raises(MalformedFrame):
            decode_frame(data[:size], LIMIT)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_a_frame_or_a_typed_error(data: bytes, framed: bool) -> None:
    sent = raw_frame(data) if framed else data
    assert code_of(lambda: decode_frame(sent, LIMIT)) in FRAME_ERRORS


@given(st.data())
def test_a_changed_byte_gives_a_frame_or_a_typed_error(data: st.DataObject) -> None:
    good = bytearray(encode_frame(Frame({"t": 1}, {"x": Tensor("i8", (1, 3), b"abc", bytes(4))})))
    at = data.draw(st.integers(0, len(good) - 1))
    good[at] = data.draw(st.integers(0, 255))
    assert code_of(lambda: decode_frame(bytes(good), LIMIT)) in FRAME_ERRORS


def test_a_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    data = raw_frame({"type": "ping"})
    decode_frame(data, len(data))
    with pytest.raises(FrameTooLarge) as caught:
        decode_frame(data, len(data) - 1)
    assert (caught.value.size, caught.value.limit) == (len(data), len(data) - 1)


def test_a_header_larger_than_the_limit_is_neither_sent_nor_read() -> None:
    with pytest.raises(FrameTooLarge):
        encode_frame(Frame({"x": "y" * MAX_HEADER_BYTES}))
    with pytest.raises(MalformedFrame, match="does not fit"):
        decode_frame(raw_frame({"x": "y" * MAX_HEADER_BYTES}), LIMIT)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\xc1",
        b"\x80\x80",
        b"\x81\xa1a",
        b"\x81\x01\x02",
        b"\x81\xc4\x01a\x01",
        b"\x81\xa1a\xa1\xff",
        b"\x81\xa1a\xd7\xff" + b"\xff" * 8,
        b"\x81\xa1a\xc7\xff\x00",
        b"\x81\xa1a\xdb\xff\xff\xff\xff",
        b"\x81\xa1a\xdd\xff\xff\xff\xff",
        b"\x81\xa1a\xdf\xff\xff\xff\xff",
        b"\x81\xa1a" + b"\x91" * 60000 + b"\xc0",
        b"\x81\xa1a" + b"\x81\xa1a" * 20000 + b"\xc0",
        b"\x90",
        b"\xc0",
        b"\x01",
    ],
    ids=lambda header: header[:6].hex(),
)
def test_a_header_that_is_no_map_with_text_keys_is_malformed(header: bytes) -> None:
    with pytest.raises(MalformedFrame):
        decode_frame(raw_frame(header), LIMIT)


def test_nested_array_heads_reserve_little_memory() -> None:
    bomb = raw_frame(b"\x81\xa1a" + b"\xdc\xf0\x00" * 1000 + b"\xc0" * 62000)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedFrame):
            decode_frame(bomb, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "described",
    [
        {},
        "x",
        5,
        [["t"]],
        ["t"],
        [["t", "f32", [1, 2], 3]],
        [[b"t", "f32", [1, 2]]],
        [["t", "f32", 2]],
        [["t", "f32", [2]]],
        [["t", "f32", [1, 1, 2]]],
        [["t", "f32", [-1, -2]]],
        [["t", "f32", [1, 0]]],
        [["t", "f32", [True, 2]]],
        [["t", "f32", [1, True]]],
        [["t", "f32", [1.0, 2]]],
        [["t", "f32", ["1", "2"]]],
        [["t", "f32", [2**28 + 1, 1]]],
        [["t", "f32", [1, 2**63]]],
        [["t", "f32", [0, 1]]] * (MAX_TENSORS + 1),
    ],
    ids=str,
)
def test_a_tensor_that_is_not_described_as_it_should_be_is_refused(described: object) -> None:
    with pytest.raises(MalformedMessage):
        decode_frame(with_tensor({"tensors": described}, bytes(8)), LIMIT)


def test_a_name_given_twice_is_refused_in_a_short_message() -> None:
    name = "n" * 5000
    twice = {"tensors": [[name, "f32", [1, 2]], [name, "f32", [1, 2]]]}
    with pytest.raises(MalformedMessage, match="two tensors") as caught:
        decode_frame(with_tensor(twice, bytes(16)), LIMIT)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("dtype", ["f64", "", "F32", 4, None, b"f32", ["f32"], {"a": 1}])
def test_an_unknown_dtype_is_refused(dtype: object) -> None:
    with pytest.raises(WrongDtype):
        decode_frame(with_tensor({"tensors": [["t", dtype, [1, 2]]]}, bytes(8)), LIMIT)


def test_a_dtype_nested_a_thousand_deep_is_refused() -> None:
    header = b"\x81\xa7tensors\x91\x93\xa1t" + b"\x91" * 1000 + b"\xc0" + b"\x92\x01\x02"
    with pytest.raises(WrongDtype):
        decode_frame(raw_frame(header), LIMIT)


@pytest.mark.parametrize("shape", [(2**28, 2**28), (2**28, 1), (1, 2**28), (2, 2)])
def test_a_shape_larger_than_its_bytes_is_malformed_and_reserves_nothing(
    shape: tuple[int, int],
) -> None:
    with pytest.raises(MalformedFrame, match="ends inside"):
        decode_frame(with_tensor({"tensors": [["t", "f32", list(shape)]]}, bytes(8)), LIMIT)


def test_padding_that_is_not_zero_is_malformed() -> None:
    head = raw_frame({"tensors": [["t", "f32", [1, 1]]]})
    assert len(head) % 8
    with pytest.raises(MalformedFrame, match="padding"):
        decode_frame(head + b"\x01" * (-len(head) % 8) + bytes(4), LIMIT)


def test_bytes_after_the_last_tensor_are_malformed() -> None:
    whole = with_tensor({"tensors": [["t", "f32", [1, 1]]]}, bytes(4))
    decode_frame(whole, LIMIT)
    with pytest.raises(MalformedFrame, match="1 bytes are left over"):
        decode_frame(whole + b"\x00", LIMIT)


def test_a_tensor_without_rows_takes_no_bytes() -> None:
    data = with_tensor({"tensors": [["t", "i8", [0, 2**28]]]}, b"")
    assert decode_frame(data, LIMIT).tensors["t"].shape == (0, 2**28)


def test_extension_types_in_unknown_keys_do_no_harm() -> None:
    header = {"type": "ping", "when": msgpack.Timestamp(1, 2), "x": msgpack.ExtType(7, b"abc")}
    assert decode_frame(raw_frame(header), LIMIT).header["type"] == "ping"


def test_a_frame_is_told_by_its_magic() -> None:
    assert is_frame(raw_frame({}))
    assert is_frame(memoryview(raw_frame({})))
    assert not is_frame(b"{}")
    assert not is_frame(b"")
