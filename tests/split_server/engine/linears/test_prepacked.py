"""Packed linear layers give what plain ones give, or are not used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

from split_server.engine.linears import choice as linear_choice
from split_server.engine.linears import prepacked as linears
from split_server.engine.linears.choice import arrange_linears
from split_server.engine.linears.prepacked import PackedLinear, linear_places, packing_fault
from split_server.errors import UnusableDevice

DTYPES = (torch.float32, torch.bfloat16)
# oneDNN's packed kernels exist only for some processors; elsewhere layers stay plain.
needs_packing = pytest.mark.skipif(
    any(packing_fault(torch.nn.Linear(64, 48, dtype=dtype)) for dtype in DTYPES),
    reason="this machine cannot pack",
)


def _linear(rows: int, columns: int, dtype: torch.dtype, bias: bool = True) -> torch.nn.Linear:
    torch.manual_seed(rows + columns)
    return torch.nn.Linear(columns, rows, bias=bias, dtype=dtype).requires_grad_(
        requires_grad=False
    )


class _Model(torch.nn.Module):
    """Two blocks with a layer of each of two shapes."""

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(
            torch.nn.Sequential(_linear(96, 32, dtype), torch.nn.SiLU(), _linear(32, 96, dtype))
            for _ in range(2)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def _kinds(model: torch.nn.Module) -> set[type]:
    return {type(m) for m in model.modules() if hasattr(m, "in_features")}


@needs_packing
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 3, 17, 128])
def test_a_packed_product_is_as_exact_as_the_plain_one(
    dtype: torch.dtype, bias: bool, rows: int
) -> None:
    linear = _linear(160, 320, dtype, bias)
    x = torch.randn(1, rows, 320).to(dtype)
    exact = functional.linear(
        x.double(), linear.weight.double(), None if linear.bias is None else linear.bias.double()
    )
    found = PackedLinear(linear.weight, linear.bias)(x)
    sums = x[0].double().norm(dim=1)[:, None] * linear.weight.double().norm(dim=1)
    # One rounding to the dtype of the result, and those of the sums, which are kept in float32.
    bound = torch.finfo(dtype).eps * exact.abs() + 8 * torch.finfo(torch.float32).eps * sums
    assert found.dtype is dtype
    assert ((found.double() - exact).abs() <= bound).all()


@needs_packing
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_are_not_contiguous_give_the_same(dtype: torch.dtype) -> None:
    linear = _linear(64, 96, dtype)
    packed = PackedLinear(linear.weight, linear.bias)
    x = torch.randn(1, 96, 5).to(dtype).transpose(1, 2)
    assert torch.equal(packed(x), packed(x.contiguous()))


@needs_packing
@pytest.mark.parametrize("dtype", DTYPES)
def test_packing_on_demand_replaces_every_linear_layer(dtype: torch.dtype) -> None:
    model = _Model(dtype)
    x = torch.randn(1, 4, 32).to(dtype)
    before = model(x)
    assert arrange_linears(model, "packed") == f"packed {str(dtype).removeprefix('torch.')}"
    assert _kinds(model) == {PackedLinear}
    torch.testing.assert_close(model(x), before)


def test_plain_layers_stay_as_they_are() -> None:
    model = _Model()
    assert arrange_linears(model, "plain") == "plain"
    assert _kinds(model) == {torch.nn.Linear}


@needs_packing
def test_only_the_shapes_that_win_the_race_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(lambda layer: isinstance(layer, PackedLinear) == (layer.in_features == 32))
    clock.watch(monkeypatch)
    model = _Model()
    assert arrange_linears(model, "auto") == "packed float32 (2 of 4)"
    kinds = {(type(p), p.in_features) for p in model.modules() if hasattr(p, "in_features")}
    assert kinds == {(PackedLinear, 32), (torch.nn.Linear, 96)}


@needs_packing
def test_a_tie_keeps_the_plain_layers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _Clock(lambda layer: True).watch(monkeypatch)
    model = _Model()
    with caplog.at_level("INFO"):
        assert arrange_linears(model, "auto") == "plain"
    assert _kinds(model) == {torch.nn.Linear}
    assert "no gain" in caplog.text


class _Clock:
    """Time passes only inside linear layers: one second in quick ones, two in others."""

    def __init__(self, quick: Callable[[torch.nn.Module], bool]) -> None:
        self.now = 0.0
        self._quick = quick

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for kind in (PackedLinear, torch.nn.Linear):
            monkeypatch.setattr(kind, "forward", self._timed(kind.forward))
        monkeypatch.setattr(linear_choice, "working_seconds", lambda: self.now)

    def _timed(self, forward: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def timed(layer: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
            self.now += 1.0 if self._quick(layer) else 2.0
            return forward(layer, x)

        return timed


def test_the_race_leaves_the_number_of_threads_as_it_was() -> None:
    before = torch.get_num_threads()
    arrange_linears(_Model(), "auto", threads=before + 1)
    assert torch.get_num_threads() == before


@pytest.fixture(params=["missing", "raising", "wrong", "nan"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private operators that are gone, refuse, or give wrong numbers."""

    class _Broken(PackedLinear):
        def __init__(self, weight: torch.Tensor, bias: torch.nn.Parameter | None) -> None:
            if request.param == "missing":
                torch.ops.mkldnn._no_such_operator.default  # noqa: B018
            if request.param == "raising":
                raise RuntimeError("bf16 path needs avx512\nwith a long explanation")
            super().__init__(weight, bias)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            good = super().forward(x)
            # Wrong only for several rows, and there only one value.
            good[:, -1] += 0.01 * (len(x) == 17) if request.param == "wrong" else torch.nan
            return good

    monkeypatch.setattr(linears, "PackedLinear", _Broken)


@pytest.mark.usefixtures("broken")
def test_what_fails_the_self_test_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    model = _Model()
    with caplog.at_level("INFO"):
        assert arrange_linears(model, "auto") == "plain"
    assert _kinds(model) == {torch.nn.Linear}
    assert len(caplog.records) == 1


@pytest.mark.usefixtures("broken")
def test_packing_on_demand_that_is_not_possible_is_an_error() -> None:
    with pytest.raises(UnusableDevice, match="--linears packed"):
        arrange_linears(_Model(), "packed")


def test_float16_is_not_packed() -> None:
    with pytest.raises(UnusableDevice, match="float16"):
        arrange_linears(_Model(torch.float16), "packed")


def test_a_model_on_another_device_is_not_packed() -> None:
    with pytest.raises(UnusableDevice, match="meta"):
        arrange_linears(_Model().to("meta"), "packed")


def test_layers_are_found_in_the_order_of_the_model() -> None:
    model = _Model()
    places = list(linear_places(model))
    assert [place.linear for place in places] == [b[i] for b in model.blocks for i in (0, 2)]
