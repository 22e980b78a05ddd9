"""A plan computes what Hugging Face's modules compute, in every family that has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.plan.choice import MODULES, PLAN, arrange_layers
from split_server.engine.model.plan.reading import FAMILIES
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.tap import AttentionTap
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest
from tests import oracle

IDS = list(range(7, 47))
EVERYTHING = AttentionRequest()


def modules_of(path: Path, dtype: str = "float32", **options: str) -> Backbone:
    """The middle, computed by modules."""
    return load_backbone(read_checkpoint(path, "tiny"), dtype, "cpu", linears="plain", **options)


def plan_of(backbone: Backbone) -> Backbone:
    """The same middle by a plan."""
    layers = arrange_layers(backbone.module, backbone.dtype, "packed")
    return replace(backbone, layers=layers.kind, least_rows=layers.least_rows)


def passes(backbone: Backbone, path: Path) -> list[torch.Tensor]:
    """Hidden states of two sessions that prefill, decode and go back."""
    runner, caches = ModelRunner(backbone), [KVCache(), KVCache()]
    found = []
    for starts, parts in (
        ((0, 0), (IDS, IDS[:5])),
        ((40, 5), ([3], [4])),
        ((20, 6), (IDS[3:9], [5])),
        ((26, 2), ([8], [9])),
    ):
        rows = [oracle.embeddings(path, ids).clone().to(backbone.dtype) for ids in parts]
        slices = [Slice(*each) for each in zip(caches, starts, rows, strict=True)]
        found += runner.run(slices)
    return found


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_hidden_states_in_float32_are_those_of_the_modules(family: str, tiny_family: Any) -> None:
    path = tiny_family(family)
    backbone = modules_of(path)
    wanted = passes(backbone, path)
    planned = plan_of(backbone)
    assert (backbone.layers, planned.layers) == (MODULES, PLAN)
    for found, expected in zip(passes(planned, path), wanted, strict=True):
        torch.testing.assert_close(found, expected, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_in_bfloat16_a_plan_is_as_near_to_float32_as_the_modules(
    family: str, tiny_family: Any
) -> None:
    path = tiny_family(family)
    exact = torch.cat(passes(modules_of(path), path))
    backbone = modules_of(path, "bfloat16")
    theirs = torch.cat(passes(backbone, path)).float()
    planned = plan_of(backbone)
    assert planned.layers == PLAN
    ours = torch.cat(passes(planned, path)).float()
    near, nearer = (functional.cosine_similarity(x, exact).mean() for x in (theirs, ours))
    assert nearer > near - 0.002


@pytest.mark.skipif(bool(product_fault()), reason="this machine has no product of bytes")
@pytest.mark.parametrize("family", ["qwen2", "gemma3_text", "phi3"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_with_int8_a_plan_is_as_near_to_float32_as_the_modules(
    family: str, dtype: str, tiny_family: Any
) -> None:
    path = tiny_family(family)
    exact = torch.cat(passes(modules_of(path), path))
    backbone = modules_of(path, dtype, quantize="int8")
    theirs = torch.cat(passes(backbone, path)).float()
    planned = plan_of(backbone)
    assert planned.layers == PLAN
    ours = torch.cat(passes(planned, path)).float()
    near, nearer = (functional.cosine_similarity(x, exact).mean() for x in (theirs, ours))
    assert nearer > near - 0.002


@pytest.mark.parametrize("family", ["qwen2", "gemma2", "phi3"])
def test_a_tap_sees_the_attention_that_it_sees_of_the_modules(
    family: str, tiny_family: Any
) -> None:
    path = tiny_family(family)
    backbone = modules_of(path)
    rows = [watched(each, path) for each in (backbone, plan_of(backbone))]
    torch.testing.assert_close(rows[1], rows[0], atol=1e-5, rtol=1e-4)


def watched(backbone: Backbone, path: Path) -> torch.Tensor:
    """Attention rows of a decode step."""
    runner, cache = ModelRunner(backbone), KVCache()
    runner.run([Slice(cache, 0, oracle.embeddings(path, IDS).clone())])
    info = backbone.info
    length = len(IDS) + 1
    tap = AttentionTap(EVERYTHING, info.num_layers, info.num_heads, length, backbone.device)
    runner.run([Slice(cache, len(IDS), oracle.embeddings(path, [3]).clone(), tap)])
    return tap.rows().values


def test_plain_matrices_are_held_once(tiny_path: Path) -> None:
    backbone = modules_of(tiny_path)
    before = {name: p.clone() for name, p in backbone.module.named_parameters()}
    plan_of(backbone)
    storages = {p.untyped_storage().data_ptr(): p for p in backbone.module.parameters()}
    held = sum(p.untyped_storage().nbytes() for p in storages.values())
    assert held == sum(p.nbytes for p in before.values())
    assert all(torch.equal(p, before[name]) for name, p in backbone.module.named_parameters())
