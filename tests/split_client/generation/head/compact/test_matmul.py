import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from split_client.generation.head.compact import matmul as compact_matmul
from split_client.generation.head.compact.build import build_plane
from split_client.generation.head.compact.file import Plane, PlaneShape, read_plane
from split_client.generation.head.compact.matmul import (
    Estimator,
    NumpyProducts,
    OnnxProducts,
    plane_products,
)
from tests.split_client.generation.head.compact.test_file import rebuilt
from tests.split_client.generation.weights import write_rows


def open_plane(folder: Path, rows: int, hidden: int) -> Plane:
    rng = np.random.default_rng(hidden)
    weights = write_rows(folder / "w", rng.standard_normal((rows, hidden), dtype=np.float32))
    shape = PlaneShape(rows, hidden, bytes(32))
    build_plane(folder / "plane", weights, shape)
    return read_plane(folder / "plane", shape)


@pytest.mark.parametrize("hidden", [1, 64, 100, 896])
@pytest.mark.parametrize("rows", [1, 37, 700])
def test_both_kernels_give_the_product_of_the_rebuilt_weights(
    tmp_path: Path, rows: int, hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact_matmul, "_AT_ONCE", 64 * hidden)
    plane = open_plane(tmp_path, rows, hidden)
    state = np.random.default_rng(2).standard_normal(hidden, dtype=np.float32)
    expected = rebuilt(plane) @ state.astype(np.float64)
    norms = np.linalg.norm(rebuilt(plane), axis=1) * np.linalg.norm(state)
    exact = Estimator(plane, NumpyProducts(plane))(state)
    rounded = Estimator(plane, OnnxProducts(plane, threads=1))(state)
    assert exact.dtype == rounded.dtype == np.float32
    assert (np.abs(exact - expected) <= 1e-5 * norms).all()
    # An activation rounded to int8 misses by about 0.006 of a normal one.
    assert (np.abs(rounded - expected) <= 0.02 * norms).all()


def test_onnxruntime_is_taken_where_it_is_and_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plane = open_plane(tmp_path, 100, 64)
    assert isinstance(plane_products(plane, 1), OnnxProducts)
    right = OnnxProducts.__call__
    monkeypatch.setattr(OnnxProducts, "__call__", lambda self, x: right(self, x)[::-1])
    assert isinstance(plane_products(plane, 1), NumpyProducts)
    assert "wrong here" in caplog.text
    monkeypatch.setattr(compact_matmul, "_graph", lambda *_: b"not a graph")
    assert isinstance(plane_products(plane, 1), NumpyProducts)
    assert caplog.records[-1].levelno == logging.WARNING
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    caplog.clear()
    assert isinstance(plane_products(plane, 1), NumpyProducts)
    assert not caplog.records
