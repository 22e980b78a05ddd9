"""The web app's arithmetic of the wire equals numpy's, bit by bit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_wire.digest import PrefixChain
from split_wire.floats import FloatName, bf16_to_f32, f32_to_bf16, round_to
from split_wire.tensor import Tensor
from tests.web.browsing import node

_TOOL = Path(__file__).parents[3] / "web/test/tools/wire/floats.js"
_WIDTH = 64


@pytest.fixture(scope="module")
def values() -> NDArray[np.float32]:
    """Any bit pattern, and many that half precision holds or that lie between two of its values."""
    draw = np.random.default_rng(5)
    patterns = draw.integers(0, 1 << 32, 200_000, dtype=np.uint32)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    ties = halves ^ np.uint32(1 << 12)
    both = np.concatenate([patterns, halves, ties, ties + np.uint32(1), ties - np.uint32(1)])
    return both[: len(both) // _WIDTH * _WIDTH].view(np.float32)


@pytest.fixture(scope="module")
def made(values: NDArray[np.float32], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what the tool makes of ``values``."""
    folder = tmp_path_factory.mktemp("floats")
    (folder / "f32").write_bytes(values.tobytes())
    subprocess.run([node(), _TOOL, folder, str(_WIDTH)], check=True)
    return folder


def same(got: NDArray[np.float32], wanted: NDArray[np.float32]) -> bool:
    """Bit by bit, but for the payload of a NaN."""
    both = np.isnan(got) & np.isnan(wanted)
    return bool((both | (got.view(np.uint32) == wanted.view(np.uint32))).all())


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_rounding_and_widening(made: Path, values: NDArray[np.float32], dtype: FloatName) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    widened = bf16_to_f32(bits) if dtype == "bf16" else bits.view(np.float16).astype(np.float32)
    assert same(np.fromfile(made / f"{dtype}.all", np.float32), widened)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = round_to(dtype, values)
        half = values.astype(np.float16).view(np.uint16)
    assert same(np.fromfile(made / f"{dtype}.rounded", np.float32), rounded)
    stored = f32_to_bf16(values) if dtype == "bf16" else half
    told = np.fromfile(made / f"{dtype}.stored", np.uint16)
    assert (np.isnan(values) | (told == stored)).all()


def test_quantising_and_its_digests(made: Path, values: NDArray[np.float32]) -> None:
    tensor = Tensor.from_f32(
        np.where(np.isfinite(values), values, np.float32(0)).reshape(-1, _WIDTH), "i8"
    )
    assert (made / "i8.data").read_bytes() == bytes(tensor.data)
    assert (made / "i8.scales").read_bytes() == bytes(tensor.scales)
    assert same(np.fromfile(made / "i8.values", np.float32), tensor.to_f32().reshape(-1))
    digests = PrefixChain("m").following(0, tensor)
    assert (made / "i8.digests").read_bytes() == b"".join(digests)
