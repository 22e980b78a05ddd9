from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest, AttentionRows
from split_wire.attention_check import checked_weights
from split_wire.errors import MalformedMessage
from split_wire.tensor import Tensor
from tests.split_wire.peer import HEADS, LAYERS, attention_of
from tests.split_wire.strategies import requests

CACHE = [bytes([position]) for position in range(7)]
TOP = AttentionRequest(top_k=3)


@given(requests)
def test_a_true_answer_is_taken(request: AttentionRequest) -> None:
    rows = attention_of(CACHE, request)
    taken = checked_weights(rows, request, LAYERS, HEADS, len(CACHE))
    layers, rows_of_one = request.layers_of(LAYERS), request.rows_of(HEADS)
    shape = (layers, rows_of_one, request.width_of(len(CACHE)))
    assert taken.values.shape == shape
    assert taken.values.dtype == np.float32
    assert not taken.values.flags.writeable
    assert np.array_equal(taken.values.reshape(rows.values.shape), rows.values.to_f32())
    assert (taken.positions is None) == (request.top_k == 0)


def refused(rows: AttentionRows | None, request: AttentionRequest, cached: int = 7) -> bool:
    with pytest.raises(MalformedMessage):
        checked_weights(rows, request, LAYERS, HEADS, cached)
    return True


def test_an_answer_to_another_question_is_refused() -> None:
    everything = attention_of(CACHE, AttentionRequest())
    assert refused(None, AttentionRequest())
    assert refused(everything, AttentionRequest("mean"))
    assert refused(everything, AttentionRequest(dtype="f16"))
    assert refused(everything, TOP)
    assert refused(attention_of(CACHE, TOP), AttentionRequest())
    assert refused(attention_of(CACHE, TOP), AttentionRequest(top_k=4))
    assert refused(replace(attention_of(CACHE, TOP), positions=None), TOP)
    assert refused(everything, AttentionRequest(), cached=8)
    assert refused(replace(everything, layers=HEADS, heads=LAYERS), AttentionRequest())


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, -0.1, 1.01])
def test_a_weight_that_is_none_is_refused(weight: float, dtype: Any) -> None:
    request = AttentionRequest(dtype=dtype)
    rows = attention_of(CACHE, request)
    values = rows.values.array().copy()
    values[-1, 2] = weight
    assert refused(replace(rows, values=Tensor(dtype, values.shape, values.tobytes())), request)


def swap(positions: NDArray[Any], values: NDArray[Any]) -> None:
    values[5, [0, 1]] = values[5, [1, 0]]


def same(positions: NDArray[Any], values: NDArray[Any]) -> None:
    positions[5, 2] = positions[5, 0]


def level(positions: NDArray[Any], values: NDArray[Any]) -> None:
    values[5], positions[5] = 0.25, [3, 1, 2]


def beyond(positions: NDArray[Any], values: NDArray[Any]) -> None:
    positions[5, 1] = 7


def below(positions: NDArray[Any], values: NDArray[Any]) -> None:
    positions[5, 1] = -1


@pytest.mark.parametrize("lie", [swap, same, level, beyond, below])
def test_positions_out_of_order_or_range_are_refused(
    lie: Callable[[NDArray[Any], NDArray[Any]], None],
) -> None:
    rows = attention_of(CACHE, TOP)
    assert rows.positions is not None
    values, positions = rows.values.array().copy(), rows.positions.array().copy()
    lie(positions, values)
    shape = rows.values.shape
    lied = replace(
        rows,
        values=Tensor("f32", shape, values.tobytes()),
        positions=Tensor("i32", shape, positions.tobytes()),
    )
    assert refused(lied, TOP)


def test_equal_weights_in_the_order_of_their_positions_are_taken() -> None:
    values = np.full((LAYERS, HEADS, 3), 0.25, np.float32)
    places = np.broadcast_to(np.array([1, 2, 5], np.int32), values.shape)
    taken = checked_weights(AttentionRows.of(values, places), TOP, LAYERS, HEADS, 7)
    assert taken.positions is not None
    assert taken.positions[0, 0].tolist() == [1, 2, 5]
