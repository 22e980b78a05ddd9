"""Packed matrices survive as bytes, and a machine where they do not is found out."""

from __future__ import annotations

import ctypes

import pytest
import torch

from split_server.engine.linears.integers import raw as module
from split_server.engine.linears.integers.onednn import OneDnnProduct, pack
from split_server.engine.linears.integers.raw import empty_packed, form, raw, raw_fault


@pytest.fixture(autouse=True)
def needs_them() -> None:
    raw_fault.cache_clear()
    if raw_fault():
        pytest.skip(raw_fault())


@pytest.mark.parametrize("shape", [(1, 1), (40, 33), (64, 64), (129, 896)])
def test_bytes_that_were_put_back_are_the_same_matrix(shape: tuple[int, int]) -> None:
    weight = torch.randint(-127, 128, shape)
    first, second = pack(weight.to(torch.int8)), empty_packed(*shape)
    assert raw(first).size == raw(second).size == form(*shape).size
    ctypes.memmove(raw(second).address, ctypes.string_at(*raw(first)), raw(first).size)
    rows = torch.randint(-127, 128, (3, shape[1]))
    found = OneDnnProduct(second, torch.ones(shape[0]), is_packed=True)(rows.float())
    assert torch.equal(found.long(), rows @ weight.T)


def test_another_shape_is_laid_out_in_another_way() -> None:
    assert form(64, 128).layout != form(128, 64).layout


def test_bytes_that_do_not_make_the_matrix_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_fault.cache_clear()
    monkeypatch.setattr(ctypes, "memmove", lambda *_: None)
    assert "another matrix" in raw_fault()
    raw_fault.cache_clear()


def test_a_build_without_the_operators_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_fault.cache_clear()

    def gone(_: torch.Tensor) -> None:
        raise AttributeError("data_ptr")

    monkeypatch.setattr(module, "raw", gone)
    assert "not available" in raw_fault()
    raw_fault.cache_clear()
