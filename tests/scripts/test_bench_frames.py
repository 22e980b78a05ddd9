"""The program that counts the bytes of a decode step."""

from __future__ import annotations

import pytest

from scripts.bench.frames.run import by_field, messages
from split_wire.codec import encode_message


@pytest.mark.parametrize("name", ["step", "result"])
def test_every_byte_of_a_frame_belongs_to_one_field(name: str) -> None:
    frame = encode_message(messages(192, "f32")[name])
    sizes = by_field(frame)
    assert sum(sizes.values()) == len(frame)
    assert sizes["row and padding"] - 4 * 192 in range(8)
    assert {"session", "prefix", "tensors"} < set(sizes)
