"""The vectors on disk: what the code builds, what it decodes, and what other arithmetic says."""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.vectors.run import FOLDER, build, render
from scripts.vectors.wire.fields import describe
from split_wire.client import ClientProtocol, Ignored, SessionOpened, StepCompleted
from split_wire.codec import decode_client_message, decode_server_message
from split_wire.session import fingerprint
from split_wire.tensor import Tensor
from tests.split_wire.frames import code_of

PATH: Path = FOLDER / "wire.json"
VECTORS: dict[str, Any] = json.loads(PATH.read_text("ascii"))
LIMIT = 1 << 20
DECODERS = {"server": decode_client_message, "device": decode_server_message}


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def f32(bits: str) -> float:
    (value,) = struct.unpack(">f", bytes.fromhex(bits))
    return float(value)


def test_the_file_is_what_the_script_writes() -> None:
    assert PATH.read_text("ascii") == render(build("wire"))


def test_the_names_of_the_cases_are_unique() -> None:
    for kind in ("messages", "tolerated", "malformed"):
        names = [(case["name"], case["to"]) for case in VECTORS[kind]]
        assert len(set(names)) == len(names)


@named(VECTORS["messages"] + VECTORS["tolerated"])
def test_a_frame_decodes_to_its_fields(case: dict[str, Any]) -> None:
    message = DECODERS[case["to"]](bytes.fromhex(case["frame"]), LIMIT)
    assert describe(message) == case["fields"]


@named([case for case in VECTORS["messages"] if "offsets" in case])
def test_the_tensors_of_a_frame_lie_at_multiples_of_eight(case: dict[str, Any]) -> None:
    frame = bytes.fromhex(case["frame"])
    for name, offsets in case["offsets"].items():
        described = _described_tensor(case["fields"], name)
        parts = [bytes.fromhex(described[part]) for part in ("data", "scales")]
        for offset, part in zip(offsets, filter(None, parts), strict=True):
            assert offset % 8 == 0
            assert frame[offset : offset + len(part)] == part
    assert frame.endswith(part)


def _described_tensor(fields: dict[str, Any], name: str) -> dict[str, Any]:
    where = {"attention": "values", "attention_positions": "positions"}
    described: dict[str, Any] = fields["attention"][where[name]] if name in where else fields[name]
    return described


@named(VECTORS["malformed"])
def test_a_malformed_frame_is_refused_by_its_code(case: dict[str, Any]) -> None:
    readers = DECODERS.values() if case["to"] == "either" else [DECODERS[case["to"]]]
    frame = bytes.fromhex(case["frame"])
    for read in readers:
        assert code_of(partial(read, frame, case["max_bytes"])) == case["error"]


@pytest.mark.parametrize("case", VECTORS["rounding"]["f16"], ids=lambda case: case["f32"])
def test_f16_rounds_as_ieee_754_says(case: dict[str, str]) -> None:
    assert struct.pack(">e", f32(case["f32"])).hex() == case["stored"]


@pytest.mark.parametrize("case", VECTORS["rounding"]["bf16"], ids=lambda case: case["f32"])
def test_bf16_rounds_to_the_nearest_and_ties_to_even(case: dict[str, str]) -> None:
    pattern, stored = int(case["f32"], 16), int(case["stored"], 16)
    below = pattern >> 16
    rest = pattern & 0xFFFF
    up = rest > 0x8000 or (rest == 0x8000 and below % 2 == 1)
    assert stored == below + up


@named(VECTORS["rounding"]["i8"])
def test_i8_divides_by_a_scale_of_the_peak(case: dict[str, Any]) -> None:
    exact = [Fraction(f32(bits)) for bits in case["f32"]]
    scale = Fraction(f32(case["scale"]))
    peak = max(map(abs, exact))
    largest_scale = Fraction(float(np.finfo(np.float32).max)) / 128
    wanted = min(Fraction(float(np.float32(float(peak / 127)))), largest_scale) or Fraction(1)
    assert scale == wanted
    for value, stored, decoded in zip(exact, case["stored"], case["values"], strict=True):
        quotient = Fraction(float(np.float32(float(value / scale))))
        assert stored == max(-127, min(127, round(quotient)))
        assert f32(decoded) == float(np.float32(float(stored * scale)))


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(dtype, bits) for dtype, many in VECTORS["rounding"]["refused"].items() for bits in many],
)
def test_a_value_that_a_dtype_cannot_hold_is_refused(dtype: Any, bits: str) -> None:
    values = np.frombuffer(bytes.fromhex(bits), ">f4").astype(np.float32)[None]
    assert code_of(lambda: Tensor.from_f32(values, dtype)) == "non_finite"


@pytest.mark.parametrize(
    "case", VECTORS["refused_tensors"], ids=lambda case: f"{case['dtype']}: {case['name']}"
)
def test_a_tensor_that_is_not_finite_is_refused(case: dict[str, Any]) -> None:
    data, scales = bytes.fromhex(case["data"]), bytes.fromhex(case["scales"])
    tensor = Tensor(case["dtype"], (1, 1), data, scales)
    assert code_of(tensor.require_finite) == case["error"]


@named(VECTORS["chains"])
def test_the_chain_is_the_one_of_its_definition(case: dict[str, Any]) -> None:
    def digest(data: bytes) -> bytes:
        return blake2b(data, digest_size=16, person=b"split.v1 prefix").digest()

    digests = [digest(case["manifest"].encode())]
    for tensor in case["appended"]:
        data, scales = bytes.fromhex(tensor["data"]), bytes.fromhex(tensor["scales"])
        count, size = tensor["shape"][0], len(data) // tensor["shape"][0]
        for row in range(count):
            values = data[row * size : (row + 1) * size] + scales[4 * row : 4 * row + 4]
            digests.append(digest(digests[-1] + tensor["dtype"].encode() + values))
    assert [each.hex() for each in digests] == case["digests"]


def test_a_fingerprint_is_the_hash_of_the_whole_frame() -> None:
    for case in VECTORS["fingerprints"]:
        frame = bytes.fromhex(case["frame"])
        hashed = blake2b(frame, digest_size=16, person=b"split.v1 step").hexdigest()
        assert fingerprint(frame).hex() == hashed == case["fingerprint"]


def test_a_device_that_hears_the_answers_sends_the_same_frames() -> None:
    case = VECTORS["conversation"]
    device = ClientProtocol(case["hidden_size"], case["manifest"])
    frames = [bytes.fromhex(each["frame"]) for each in case["frames"]]
    assert device.open() == frames[0]
    assert isinstance(device.receive(frames[1]), SessionOpened)
    for index, step in enumerate(case["steps"]):
        sent, answer = frames[2 + 2 * index], frames[3 + 2 * index]
        assert device.step(step["start"], np.array(step["rows"], np.float32)) == sent
        assert isinstance(device.receive(answer), StepCompleted)
    assert device.close() == frames[-2]


def test_a_device_believes_of_a_server_what_its_own_names_prove() -> None:
    case = VECTORS["resumption"]
    device = ClientProtocol(
        case["hidden_size"], case["manifest"], case["dtype"], case["cache_salt"]
    )
    shape = (-1, case["hidden_size"])
    tables = {
        name: np.frombuffer(bytes.fromhex(data), "<f4").reshape(shape)
        for name, data in case["rows"].items()
    }
    for act in case["acts"]:
        assert _sent(device, act, tables[act["rows"]], case["dtype"]).hex() == act["frame"]
        assert not isinstance(device.receive(bytes.fromhex(act["answer"])), Ignored)
        assert device.cached == act["cached"]


def _sent(device: ClientProtocol, act: dict[str, Any], rows: Any, dtype: Any) -> bytes:
    """What the device sends when it does as ``act`` says."""
    if act["does"] == "step":
        return device.step(act["start"], rows[act["start"] :])
    chain = device.new_chain()
    chain.replace(0, chain.following(0, Tensor.from_f32(rows, dtype)))
    return device.open(chain) if act["does"] == "open" else device.restore(act["start"], chain)
