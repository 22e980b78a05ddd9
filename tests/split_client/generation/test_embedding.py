from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3TextScaledWordEmbedding

from split_client.generation.embedding import Embedding
from split_client.generation.errors import NotRepresentable, TokenIdOutOfRange, UnknownFloat
from split_wire.floats import FloatName, round_to
from tests.split_client.generation.weights import write_rows

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
HIDDEN = 40  # its square root is not a short binary fraction
IDS = [3, 0, 99, 3]


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((100, HIDDEN), dtype=np.float32)


@pytest.mark.parametrize("compute", ["f32", "bf16", "f16"])
def test_scaled_embeddings_equal_gemma_bit_for_bit(
    tmp_path: Path, weights: np.ndarray, compute: FloatName
) -> None:
    rows = write_rows(tmp_path / "w", weights, "bf16")
    scale = Gemma3TextConfig(hidden_size=HIDDEN).hidden_size ** 0.5
    oracle = Gemma3TextScaledWordEmbedding(100, HIDDEN, 0, embed_scale=scale)
    oracle.weight.data = torch.from_numpy(weights).bfloat16().to(TORCH[compute])
    expected = oracle(torch.tensor(IDS)).detach().float().numpy()
    assert np.array_equal(Embedding(rows, scale, compute).lookup(IDS, compute), expected)


@pytest.mark.parametrize("wire", ["f32", "bf16", "f16"])
def test_plain_embeddings_are_rows_rounded_once_to_the_wire(
    tmp_path: Path, weights: np.ndarray, wire: FloatName
) -> None:
    found = Embedding(write_rows(tmp_path / "w", weights, "f32")).lookup(IDS, wire)
    expected = torch.from_numpy(weights[IDS]).to(TORCH[wire]).float().numpy()
    assert np.array_equal(found, expected)
    assert np.array_equal(round_to(wire, found), found)


def test_no_ids_give_no_rows_and_foreign_ids_are_refused(
    tmp_path: Path, weights: np.ndarray
) -> None:
    embedding = Embedding(write_rows(tmp_path / "w", weights))
    assert embedding.lookup([], "bf16").shape == (0, HIDDEN)
    with pytest.raises(TokenIdOutOfRange):
        embedding.lookup([100], "bf16")


def test_a_value_that_overflows_the_wire_names_its_token(
    tmp_path: Path, weights: np.ndarray
) -> None:
    weights[7, 2] = 1e6
    embedding = Embedding(write_rows(tmp_path / "w", weights, "f32"))
    assert embedding.lookup([7], "bf16")[0, 2] == np.float32(999_424)
    with pytest.raises(NotRepresentable, match="token 7 overflows f16"):
        embedding.lookup([1, 7], "f16")


def test_unknown_formats_are_refused(tmp_path: Path, weights: np.ndarray) -> None:
    rows = write_rows(tmp_path / "w", weights)
    with pytest.raises(UnknownFloat):
        Embedding(rows).lookup([1], "i8")  # type: ignore[arg-type]
    with pytest.raises(UnknownFloat):
        Embedding(rows, 2.0, "f64")  # type: ignore[arg-type]
