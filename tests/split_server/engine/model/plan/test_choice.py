"""A plan is used where it is the same and faster; otherwise the modules stay, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import LEAST_ROWS
from split_server.engine.model.plan import choice
from split_server.engine.model.plan.choice import MODULES, PLAN, Layers, arrange_layers
from split_server.engine.model.plan.plan import DecodePlan


@pytest.fixture
def backbone(tiny_path: Path) -> Backbone:
    return load_backbone(read_checkpoint(tiny_path, "tiny"), "float32", "cpu", linears="plain")


def arranged(backbone: Backbone, mode: str = "packed") -> Layers:
    return arrange_layers(backbone.module, backbone.dtype, mode)


def is_replaced(backbone: Backbone) -> bool:
    return "forward" in vars(backbone.module)


def test_plain_keeps_the_modules(backbone: Backbone) -> None:
    assert arranged(backbone, "plain") == Layers(MODULES, LEAST_ROWS)
    assert not is_replaced(backbone)


@pytest.mark.parametrize("kept", [MODULES, PLAN])
def test_the_faster_one_is_used(
    backbone: Backbone, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    now = 0.0

    def taking(seconds: float, forward: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            nonlocal now
            now += seconds
            return forward(*arguments, **named)

        return timed

    monkeypatch.setattr(choice, "working_seconds", lambda: now)
    slower = 2.0 if kept == MODULES else 0.5
    monkeypatch.setattr(DecodePlan, "forward", taking(slower, DecodePlan.forward))
    kind = type(backbone.module)
    monkeypatch.setattr(kind, "forward", taking(1.0, kind.forward))
    assert arranged(backbone, "auto").kind == kept
    assert is_replaced(backbone) == (kept == PLAN)


def test_a_family_with_other_layers_keeps_its_modules(
    tiny_family: Any, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = read_checkpoint(tiny_family("starcoder2"), "tiny")
    with caplog.at_level("INFO"):
        assert load_backbone(checkpoint, "float32", "cpu", layers="auto").layers == MODULES
    assert "not for starcoder2" in caplog.text


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("scaling", 0.3, "attention is asked for in another way|layer 0 differs"),
        ("head_dim", 8, "not possible"),
    ],
)
def test_a_plan_that_computes_something_else_is_not_used(
    backbone: Backbone,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    attribute: str,
    value: float,
    reason: str,
) -> None:
    """The plan reads an attribute that the modules no longer go by."""
    read = DecodePlan.__init__

    def misread(plan: DecodePlan, module: Any, *rest: Any) -> None:
        attention = module.layers[0].self_attn
        before = getattr(attention, attribute)
        setattr(attention, attribute, value)
        read(plan, module, *rest)
        setattr(attention, attribute, before)

    monkeypatch.setattr(DecodePlan, "__init__", misread)
    with caplog.at_level("INFO"):
        assert arranged(backbone).kind == MODULES
    assert any(word in caplog.text for word in reason.split("|"))
    assert not is_replaced(backbone)


def test_wrong_weights_in_the_last_norm_are_found(
    backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    final = DecodePlan.final
    monkeypatch.setattr(DecodePlan, "final", lambda plan, stream: final(plan, stream) * 1.001)
    assert arranged(backbone).kind == MODULES


def test_modules_without_the_expected_parts_are_kept(
    backbone: Backbone, caplog: pytest.LogCaptureFixture
) -> None:
    backbone.module.config.model_type = "gemma2"
    del backbone.module.layers[1].mlp.act_fn
    with caplog.at_level("INFO"):
        assert arranged(backbone).kind == MODULES
    assert "not possible" in caplog.text


def test_float16_keeps_the_modules(tiny_path: Path) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    backbone = load_backbone(checkpoint, "float16", "cpu", linears="plain")
    assert arranged(backbone).kind == MODULES


def test_the_number_of_threads_stays_as_it_was(backbone: Backbone) -> None:
    before = torch.get_num_threads()
    arrange_layers(backbone.module, backbone.dtype, "auto", threads=before + 1)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("company", [False, True])
def test_passes_are_filled_up_only_where_company_changes_a_row(
    backbone: Backbone, monkeypatch: pytest.MonkeyPatch, company: bool
) -> None:
    hidden = DecodePlan.hidden

    def other_kernel_for_few(plan: DecodePlan, rows: torch.Tensor, *rest: Any) -> torch.Tensor:
        found = hidden(plan, rows, *rest).round(decimals=2)
        return found + (rows.shape[1] < LEAST_ROWS) if company else found

    monkeypatch.setattr(DecodePlan, "hidden", other_kernel_for_few)
    assert arranged(backbone).least_rows == (LEAST_ROWS if company else 1)


@pytest.mark.parametrize("quantize", ["none", "int8"])
def test_a_plan_is_made_for_those_who_ask(tiny_path: Path, quantize: str) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    for linears, layers, kind in (("packed", "auto", PLAN), ("packed", MODULES, MODULES)):
        backbone = load_backbone(
            checkpoint, "bfloat16", "cpu", linears=linears, quantize=quantize, layers=layers
        )
        assert backbone.layers == kind
