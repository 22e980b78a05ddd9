from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.attention import (
    LARGEST_ATTENTION_BYTES,
    AttentionRequest,
    AttentionRows,
    attention_bytes,
    request_field,
    request_value,
)
from split_wire.codec import encode_message
from split_wire.errors import AttentionTooLarge, MalformedMessage
from split_wire.limits import frame_limit
from split_wire.messages import Result, Step
from split_wire.tensor import Tensor
from tests.split_wire.strategies import requests


@given(st.none() | requests)
def test_a_request_comes_back_as_it_was_sent(request: AttentionRequest | None) -> None:
    assert request_field(request_value(request)) == request


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        (None, None),
        (False, None),
        (True, AttentionRequest()),
        ({}, AttentionRequest()),
        ({"heads": None, "top_k": None, "dtype": None, "later": [1]}, AttentionRequest()),
        ({"heads": "max", "top_k": 4096, "dtype": "f16"}, AttentionRequest("max", 4096, "f16")),
        ({"layers": None, "reduce": None}, AttentionRequest()),
        ({"layers": [0, 3], "reduce": "max"}, AttentionRequest(layers=(0, 3), reduce="max")),
    ],
)
def test_what_a_step_asks_for(field: Any, request_: AttentionRequest | None) -> None:
    assert request_field(field) == request_


@pytest.mark.parametrize(
    "field",
    [0, 1, "all", [], {"heads": "min"}, {"heads": True}, {"top_k": -1}, {"top_k": 4097},
     {"top_k": True}, {"top_k": 1.0}, {"dtype": "bf16"}, {"dtype": "f64"}, {"dtype": 4},
     {"layers": []}, {"layers": [1, 0]}, {"layers": [0, 0]}, {"layers": [-1]}, {"layers": [True]},
     {"layers": [1.0]}, {"layers": 1}, {"layers": "all"}, {"layers": [*range(1025)]},
     {"reduce": "sum"}, {"reduce": 1}],
)  # fmt: skip
def test_a_request_with_a_bad_value_is_malformed(field: Any) -> None:
    with pytest.raises(MalformedMessage):
        request_field(field)


@given(requests, st.integers(5, 7), st.integers(1, 5), st.integers(1, 40))
def test_the_longest_answer_has_room_and_little_more(
    request: AttentionRequest, layers: int, heads: int, positions: int
) -> None:
    shape = (request.layers_of(layers), request.rows_of(heads), request.width_of(positions))
    values = np.zeros(shape, np.float16 if request.dtype == "f16" else np.float32)
    rows = AttentionRows.of(values, np.zeros(shape, np.int32) if request.top_k else None)
    hidden = Tensor("f32", (1, 4), bytes(16))
    plain = Result("s" * 200, 2**53 - 1, 2**53 - 1, hidden, 2**53 - 1, 2**53 - 1, bytes(16))
    size = attention_bytes(request, layers, heads, positions)
    with_rows = Result("s" * 200, 1, positions, hidden, prefix=bytes(16), attention=rows)
    assert len(encode_message(with_rows)) <= frame_limit(4, 1) + size
    assert size <= values.nbytes + (4 * values.size if request.top_k else 0) + 16
    assert len(encode_message(plain)) <= frame_limit(4, 1)


def test_an_answer_above_the_limit_is_not_asked_for() -> None:
    layers, heads = 80, 64
    fits = LARGEST_ATTENTION_BYTES // (layers * heads * 4) - 1
    assert attention_bytes(AttentionRequest(), layers, heads, fits) <= LARGEST_ATTENTION_BYTES
    for request in (AttentionRequest(top_k=4096), AttentionRequest()):
        with pytest.raises(AttentionTooLarge):
            attention_bytes(request, layers, heads, fits + 2)
    assert attention_bytes(AttentionRequest("mean"), layers, heads, 100_000) < 40 << 20


def test_rows_are_taken_over_without_a_copy() -> None:
    values = np.full((2, 3, 5), 0.2, np.float32)
    rows = AttentionRows.of(values)
    values[0, 0, 0] = 0.5
    assert (rows.layers, rows.heads, rows.values.shape) == (2, 3, (6, 5))
    assert rows.values.to_f32()[0, 0] == 0.5


def test_a_layer_that_the_model_does_not_have_is_told_with_how_many_it_has() -> None:
    request = AttentionRequest(layers=(0, 4))
    assert attention_bytes(request, 5, 2, 10) == 2 * 2 * 10 * 4 + 16
    with pytest.raises(MalformedMessage, match="4 layers, and none of number 4"):
        attention_bytes(request, 4, 2, 10)


def test_a_token_of_one_reduced_row_costs_less_than_600_bytes() -> None:
    """At a context of 4,096: what a step and its result are longer than those without."""
    session, layers, heads, context = "s" * 32, 30, 9, 4096
    step = Step(session, 9999, context - 1, bytes(16), Tensor("f16", (1, 4), bytes(8)))
    hidden = Tensor("f16", (1, 4), bytes(8))
    result = Result(session, 9999, context, hidden, 99_999, 99, bytes(16))
    request = AttentionRequest(top_k=80, dtype="f16", reduce="mean")
    shape = (request.layers_of(layers), request.rows_of(heads), request.width_of(context))
    rows = AttentionRows.of(np.zeros(shape, np.float16), np.zeros(shape, np.int32))
    more = sum(
        len(encode_message(replace(plain, attention=asked))) - len(encode_message(plain))  # type: ignore[type-var]
        for plain, asked in ((step, request), (result, rows))
    )
    assert more <= 600
