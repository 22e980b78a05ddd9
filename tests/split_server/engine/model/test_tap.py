"""The tap against Hugging Face's eager attention on the same weights, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, DynamicCache

from split_server.engine.model.tap import AttentionTap
from split_wire.attention import AttentionRequest
from split_wire.errors import HiddenOverflow
from tests.checkpoints import tiny_checkpoint

FAMILIES = ("qwen2", "llama", "gemma", "mistral", "gemma2", "granite")
# More than a sliding window of the tiny checkpoints.
LENGTH = 23
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Recorded:
    """One layer as eager attention saw and answered it; the last position's alone."""

    query: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    scaling: float
    window: int | None
    softcap: float | None
    weights: torch.Tensor
    output: torch.Tensor


def recorded(path: Path, family: str, dtype: torch.dtype = torch.float32) -> list[Recorded]:
    """What each layer of the checkpoint's model does for the last of LENGTH positions."""
    model = AutoModel.from_pretrained(
        tiny_checkpoint(family, path), dtype=dtype, attn_implementation="eager"
    ).eval()
    module_of_model = import_module(type(model).__module__)
    eager = module_of_model.eager_attention_forward
    layers: list[Recorded] = []

    def probe(module: Any, query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
        output, weights = eager(module, query, key, value, mask, **options)
        kv_heads, width = key.shape[1], query.shape[3]
        window, softcap = options.get("sliding_window"), options.get("softcap")
        last = query[0, :, -1].reshape(kv_heads, -1, width)
        shown = output[0, -1].reshape(kv_heads, -1, width)
        scaling = options["scaling"]
        layers.append(
            Recorded(last, key, value, scaling, window, softcap, weights[0, :, -1], shown)
        )
        return output, weights

    chance = torch.Generator().manual_seed(1)
    embeddings = torch.randn(1, LENGTH, model.config.hidden_size, generator=chance).to(dtype)
    with torch.inference_mode(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(module_of_model, "eager_attention_forward", probe)
        model(inputs_embeds=embeddings, past_key_values=DynamicCache(), use_cache=True)
    assert len(layers) == model.config.num_hidden_layers
    return layers


def tapped(request: AttentionRequest, layers: list[Recorded], *, attend: bool = False) -> Any:
    """The tap's answer about ``layers``, after it attended or only observed."""
    first = layers[0]
    heads = first.query.shape[0] * first.query.shape[1]
    tap = AttentionTap(request, len(layers), heads, LENGTH, CPU)
    for index, seen in enumerate(layers):
        if not tap.wants(index):
            continue
        options = (seen.scaling, seen.window, seen.softcap)
        if attend:
            output = tap.attend(index, seen.query, seen.keys, seen.values, *options)
            torch.testing.assert_close(output, seen.output, rtol=0, atol=1e-5)
        else:
            tap.observe(index, seen.query, seen.keys, *options)
    return tap.rows()


def eager_rows(layers: list[Recorded]) -> torch.Tensor:
    return torch.stack([layer.weights for layer in layers]).float()


@pytest.mark.parametrize("attend", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_those_of_eager_attention(family: str, attend: bool, tmp_path: Path) -> None:
    layers = recorded(tmp_path, family)
    result = tapped(AttentionRequest(), layers, attend=attend)
    assert result.positions is None
    torch.testing.assert_close(result.values, eager_rows(layers), rtol=0, atol=1e-5)
    torch.testing.assert_close(result.values.sum(-1), torch.ones(result.values.shape[:2]))


def test_positions_outside_a_window_are_exactly_zero(tmp_path: Path) -> None:
    layers = recorded(tmp_path, "mistral")
    window = layers[0].window
    assert window is not None
    assert window < LENGTH
    values = tapped(AttentionRequest(), layers).values
    assert bool((values[..., : LENGTH - window] == 0).all())
    assert bool((values[..., LENGTH - window :] > 0).all())


@pytest.mark.parametrize("family", ["qwen2", "gemma2"])
def test_heads_are_reduced_to_their_mean_or_maximum(family: str, tmp_path: Path) -> None:
    layers = recorded(tmp_path, family)
    rows = eager_rows(layers)
    mean = tapped(AttentionRequest("mean"), layers).values
    largest = tapped(AttentionRequest("max"), layers, attend=True).values
    torch.testing.assert_close(mean, rows.mean(1, keepdim=True), rtol=0, atol=1e-5)
    torch.testing.assert_close(largest, rows.amax(1, keepdim=True), rtol=0, atol=1e-5)


@pytest.mark.parametrize("heads", ["all", "mean", "max"])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_a_top_k_is_the_head_of_the_sorted_row(heads: Any, dtype: Any, tmp_path: Path) -> None:
    layers = recorded(tmp_path, "mistral")
    rows = tapped(AttentionRequest(heads, 0, dtype), layers).values
    top = tapped(AttentionRequest(heads, 5, dtype), layers)
    assert torch.equal(top.values, rows.sort(descending=True).values[..., :5])
    assert torch.equal(rows.gather(-1, top.positions.long()), top.values)


@pytest.mark.parametrize("top_k", [0, 5])
@pytest.mark.parametrize("layers_", [(), (1,), (0, 1)])
@pytest.mark.parametrize("reduce", ["none", "mean", "max"])
@pytest.mark.parametrize("heads", ["all", "mean", "max"])
def test_some_layers_are_reduced_to_one_row(
    heads: Any, reduce: Any, layers_: tuple[int, ...], top_k: int, tmp_path: Path
) -> None:
    layers = recorded(tmp_path, "mistral")
    result = tapped(AttentionRequest(heads, top_k, "f32", layers_, reduce), layers, attend=True)
    rows = eager_rows(layers)[list(layers_) or slice(None)]
    rows = _over(rows, heads, 1)
    if reduce != "none":
        rows = _over(rows.flatten(0, 1), reduce, 0)[None]
    if top_k:
        assert torch.allclose(rows.gather(-1, result.positions.long()), result.values, atol=1e-6)
        rows = rows.sort(descending=True).values[..., :top_k]
    torch.testing.assert_close(result.values, rows, rtol=0, atol=1e-5)


def _over(rows: torch.Tensor, how: str, axis: int) -> torch.Tensor:
    if how == "all":
        return rows
    return rows.mean(axis, keepdim=True) if how == "mean" else rows.amax(axis, keepdim=True)


def test_hidden_places_have_no_weight_in_a_reduced_row(tmp_path: Path) -> None:
    layers = recorded(tmp_path, "qwen2")
    heads, length = layers[0].weights.shape[0], LENGTH + 4
    for top_k in (0, length):
        tap = AttentionTap(AttentionRequest(top_k=top_k, reduce="mean"), 2, heads, length, CPU)
        places = tap.places = torch.cat([torch.arange(2), torch.arange(6, length)])
        for index, seen in enumerate(layers[:2]):
            tap.observe(index, seen.query, seen.keys, seen.scaling)
        result = tap.rows()
        row = torch.zeros(length)
        row[places] = eager_rows(layers[:2]).mean((0, 1))
        told = result.values[0, 0]
        if result.positions is not None:
            told = torch.zeros(length).scatter(0, result.positions[0, 0].long(), told)
        torch.testing.assert_close(told, row, rtol=0, atol=1e-5)


def test_equal_weights_rise_by_position_and_a_top_k_ends_with_the_cache(tmp_path: Path) -> None:
    layers = recorded(tmp_path, "mistral")
    top = tapped(AttentionRequest(top_k=4096), layers)
    assert top.positions.dtype == torch.int32
    assert top.values.shape[-1] == LENGTH
    assert torch.equal(top.positions.sort().values[0, 0], torch.arange(LENGTH, dtype=torch.int32))
    hidden = LENGTH - (layers[0].window or 0)
    assert top.positions[0, 0, -hidden:].tolist() == list(range(hidden))


def test_half_precision_rounds_the_rows(tmp_path: Path) -> None:
    layers = recorded(tmp_path, "qwen2")
    values = tapped(AttentionRequest(dtype="f16"), layers).values
    assert torch.equal(values, tapped(AttentionRequest(), layers).values.half())


def test_bfloat16_keys_give_the_rows_of_a_float64_computation(tmp_path: Path) -> None:
    layers = recorded(tmp_path, "qwen2", torch.bfloat16)
    for layer, row in zip(layers, tapped(AttentionRequest(), layers).values, strict=True):
        scores = layer.query.double() @ layer.keys[0].double().transpose(1, 2) * layer.scaling
        wanted = torch.softmax(scores, -1).flatten(0, 1)
        torch.testing.assert_close(row.double(), wanted, rtol=0, atol=1e-5)


def test_the_keys_of_a_growing_cache_need_not_be_contiguous(tmp_path: Path) -> None:
    (layer, *_) = recorded(tmp_path, "qwen2")
    roomy = torch.full((1, *layer.keys.shape[1:2], 2 * LENGTH, layer.keys.shape[3]), torch.nan)
    view = roomy[:, :, :LENGTH].copy_(layer.keys)
    tap = AttentionTap(AttentionRequest(), 1, layer.weights.shape[0], LENGTH, CPU)
    tap.observe(0, layer.query, view, layer.scaling)
    torch.testing.assert_close(tap.rows().values[0], layer.weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("top_k", [0, 2, 20])
@pytest.mark.parametrize("bad", [torch.inf, -torch.inf, torch.nan, -torch.nan])
@pytest.mark.parametrize(
    ("heads", "reduce"),
    [("all", "none"), ("mean", "none"), ("max", "none"), ("all", "mean"), ("all", "max")],
)
def test_scores_that_overflow_are_an_error(
    heads: Any, reduce: Any, bad: float, top_k: int, tmp_path: Path
) -> None:
    (layer, *_) = recorded(tmp_path, "mistral")
    request = AttentionRequest(heads, top_k, reduce=reduce)
    tap = AttentionTap(request, 1, layer.weights.shape[0], LENGTH, CPU)
    keys = layer.keys.clone()
    keys[0, 0, -3] = bad
    tap.observe(0, layer.query, keys, layer.scaling, layer.window)
    with pytest.raises(HiddenOverflow):
        tap.rows()


def test_a_layer_that_was_not_shown_is_not_answered_for() -> None:
    tap = AttentionTap(AttentionRequest(), 2, 4, 3, CPU)
    tap.observe(1, torch.ones(2, 2, 4), torch.ones(1, 2, 3, 4), 1.0)
    with pytest.raises(RuntimeError, match="layer"):
        tap.rows()
