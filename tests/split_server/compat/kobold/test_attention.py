"""Forms of attention, against their definitions computed in float64."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_server.compat.kobold.attention import AttentionOptions, binary_rows, json_rows
from split_wire.attention import AttentionRequest, AttentionWeights

LAYERS, HEADS, CONTEXT = 3, 4, 50


@pytest.fixture
def rows() -> NDArray[np.float32]:
    logits = np.random.default_rng(1).normal(size=(LAYERS, HEADS, CONTEXT)) * 3
    weights = np.exp(logits)
    values: NDArray[np.float32] = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return values


def engine(rows: NDArray[np.float32], request: AttentionRequest) -> AttentionWeights:
    """What the engine returns for ``request`` where the full rows are ``rows``."""
    if request.heads == "mean":
        rows = rows.mean(1, keepdims=True)
    elif request.heads == "max":
        rows = rows.max(1, keepdims=True)
    return AttentionWeights(rows)


def document(rows: NDArray[np.float32], options: AttentionOptions) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json_rows(options, engine(rows, options.request())))
    assert told["format"] == options.format
    assert told["context_length"] == CONTEXT
    return told


def frame(rows: NDArray[np.float32], options: AttentionOptions) -> memoryview:
    return binary_rows(options, engine(rows, options.request()))


def test_full_rows_leave_as_the_memory_they_lie_in(rows: NDArray[np.float32]) -> None:
    sent = frame(rows, AttentionOptions())
    assert sent.nbytes == len(sent) == rows.nbytes
    assert np.shares_memory(np.frombuffer(sent, np.float32), rows)
    assert sent == rows.tobytes()


@pytest.mark.parametrize("half", [False, True])
def test_full_rows_in_json_are_the_same_bytes_in_base64(
    rows: NDArray[np.float32], half: bool
) -> None:
    options = AttentionOptions(half=half)
    told = document(rows, options)
    data = base64.b64decode(told["data"])
    assert (told["shape"], told["encoding"]) == ([LAYERS, HEADS, CONTEXT], "base64")
    assert data == bytes(frame(rows, options))
    assert len(data) == LAYERS * HEADS * CONTEXT * (2 if half else 4)
    read = np.frombuffer(data, told["dtype"]).reshape(told["shape"])
    np.testing.assert_allclose(read, rows, rtol=1e-3 if half else 0, atol=1e-7 if half else 0)


@pytest.mark.parametrize("mode", ["mean", "max"])
def test_aggregated_rows_are_taken_over_layers_and_heads(
    rows: NDArray[np.float32], mode: Any
) -> None:
    options = AttentionOptions("aggregated", mode)
    wanted = getattr(rows.astype(np.float64), mode)((0, 1))
    told = document(rows, options)
    assert (told["shape"], told["aggregation_mode"]) == ([CONTEXT], mode)
    np.testing.assert_allclose(told["data"], wanted, atol=1e-7)
    np.testing.assert_allclose(np.frombuffer(frame(rows, options), "<f4"), wanted, atol=1e-7)


@pytest.mark.parametrize("top_k", [5, 1000])
def test_sparse_rows_are_those_of_the_most_attended_positions(
    rows: NDArray[np.float32], top_k: int
) -> None:
    options = AttentionOptions("sparse", top_k=top_k)
    exact = rows.astype(np.float64)
    count = min(top_k, CONTEXT)
    order = sorted(range(CONTEXT), key=lambda i: (-exact[:, :, i].mean(), i))[:count]
    told = document(rows, options)
    assert told["top_k"] == count
    assert [entry["position"] for entry in told["data"]] == order
    for entry in told["data"]:
        wanted = exact[:, :, entry["position"]].mean(1)
        np.testing.assert_allclose(entry["layers"], wanted, atol=1e-7)
    sent = bytes(frame(rows, options))
    assert np.frombuffer(sent[: 4 * count], "<i4").tolist() == order
    weights = np.frombuffer(sent[4 * count :], "<f4").reshape(count, LAYERS)
    np.testing.assert_allclose(weights, exact[:, :, order].mean(1).T, atol=1e-7)


def test_of_equal_positions_the_lower_ones_count() -> None:
    rows = np.full((LAYERS, HEADS, CONTEXT), 1 / CONTEXT, np.float32)
    told = document(rows, AttentionOptions("sparse", top_k=3))
    assert [entry["position"] for entry in told["data"]] == [0, 1, 2]


def test_numbers_to_draw_follow_their_definitions(rows: NDArray[np.float32]) -> None:
    exact = rows.astype(np.float64)
    by_layer = exact.mean(1)

    def entropy(row: NDArray[np.float64]) -> float:
        return float(-sum(p * np.log(p) for p in row))

    wanted = [
        exact.mean((1, 2)),
        exact.max((1, 2)),
        [entropy(row) for row in by_layer],
        [entropy(by_layer.mean(0))],
    ]
    told = document(rows, AttentionOptions("viz"))
    names = ("mean_by_layer", "max_by_layer", "entropy_by_layer")
    for name, values in zip(names, wanted, strict=False):
        np.testing.assert_allclose(told[name], values, rtol=1e-5)
    np.testing.assert_allclose(told["entropy"], wanted[3][0], rtol=1e-5)
    sent = np.frombuffer(frame(rows, AttentionOptions("viz")), "<f4")
    np.testing.assert_allclose(sent, np.concatenate(wanted), rtol=1e-5)


def test_weights_that_underflowed_have_no_entropy_of_their_own() -> None:
    rows = np.zeros((LAYERS, HEADS, CONTEXT), np.float32)
    rows[..., 7] = 1
    assert document(rows, AttentionOptions("viz"))["entropy"] == 0


@pytest.mark.parametrize("name", ["per_layer", "aggregated", "sparse", "viz"])
@pytest.mark.parametrize("half", [False, True])
def test_no_document_is_longer_than_announced(
    rows: NDArray[np.float32], name: Any, half: bool
) -> None:
    options = AttentionOptions(name, half=half)
    told = json_rows(options, engine(rows, options.request()))
    most = options.document_bytes(LAYERS, HEADS, CONTEXT) + 200
    assert len(told) <= most * (1.5 if name == "sparse" else 1)
