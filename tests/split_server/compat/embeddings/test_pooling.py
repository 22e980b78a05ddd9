"""States become one vector of length 1."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from split_server.compat.embeddings.answer import openai_document
from split_server.compat.embeddings.pooling import Pooled
from split_server.compat.embeddings.request import Pooling

STATES = np.array([[3, 0], [0, 4], [0, 4]], np.float32)


@pytest.mark.parametrize("pieces", [(3,), (1, 2), (1, 1, 1)])
@pytest.mark.parametrize(("pooling", "sums"), [("mean", (3, 8)), ("last", (0, 4))])
def test_a_vector_is_the_same_however_the_states_come(
    pieces: tuple[int, ...], pooling: Pooling, sums: tuple[float, float]
) -> None:
    pooled, begin = Pooled(pooling, 2), 0
    for piece in pieces:
        pooled.add(STATES[begin : begin + piece])
        begin += piece
    vector = pooled.vector()
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector, np.array(sums) / np.hypot(*sums), rtol=1e-6)


def test_states_of_zeros_have_no_direction() -> None:
    pooled = Pooled("mean", 2)
    pooled.add(np.zeros((3, 2), np.float32))
    assert pooled.vector().tolist() == [0, 0]


def test_numbers_and_base64_are_the_same_vector() -> None:
    vector = np.array([1 / 3, -2 / 3], np.float32)
    as_numbers = openai_document("tiny", [vector], 5, "mean", binary=False)
    as_bytes = openai_document("tiny", [vector], 5, "mean", binary=True)
    found = np.array(as_numbers["data"][0]["embedding"], np.float32)
    assert found.tobytes() == vector.tobytes()
    decoded = base64.b64decode(as_bytes["data"][0]["embedding"])
    assert np.frombuffer(decoded, "<f4").tobytes() == vector.tobytes()
    assert (as_numbers["pooling"], as_numbers["normalized"]) == ("mean", True)
    assert as_numbers["usage"] == {"prompt_tokens": 5, "total_tokens": 5}
