"""Passes in llama.cpp against the whole model of Hugging Face, for every family that a GGUF has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from split_server.engine.model.packed import Slice
from split_server.kv.session_cache import SessionCache
from split_server.llama.model import LlamaModel
from split_server.llama.watch import AttentionAstray
from split_wire.attention import AttentionRequest
from split_wire.errors import HiddenOverflow
from split_wire.tensor import Tensor
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.llama_models import FAMILIES, OF_TABLES, loaded, overrides, split_folder

_IDS = [11, 45, 200, 7, 7, 131]
Made = Callable[[str], tuple[Path, LlamaModel]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    known: dict[str, tuple[Path, LlamaModel]] = {}

    def make(family: str) -> tuple[Path, LlamaModel]:
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            path = tiny_checkpoint(family, folder / "hf", **overrides(family))
            named = "Mistral Tiny" if family == "mistral" else "Tiny"
            known[family] = path, loaded(split_folder(path, folder, named=named))
        return known[family]

    return make


def _rows(path: Path, model: LlamaModel, ids: list[int]) -> torch.Tensor:
    return model.runner.load(Tensor.from_f32(oracle.embeddings(path, ids).numpy(), "f32"))


def _run(path: Path, model: LlamaModel, cache: SessionCache, ids: list[int]) -> torch.Tensor:
    [hidden] = model.runner.run([Slice(cache, cache.length, _rows(path, model, ids))])
    return hidden


def _states(path: Path, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = oracle.model(path).model(torch.tensor([ids])).last_hidden_state[0]
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_states_of_prefill_and_decode_are_those_of_the_model(family: str, made: Made) -> None:
    path, model = made(family)
    cache = model.cells.new()
    found = torch.cat(
        [_run(path, model, cache, _IDS[:4]), *(_run(path, model, cache, [i]) for i in _IDS[4:])]
    )
    tolerance = 5e-3 if family in OF_TABLES else 2e-5
    torch.testing.assert_close(found, _states(path, _IDS), rtol=tolerance, atol=tolerance)
    assert cache.length == len(_IDS)
    cache.release()


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_rows_are_those_of_eager_attention(family: str, made: Made) -> None:
    path, model = made(family)
    other, cache = model.cells.new(), model.cells.new()
    # Cells of somebody else lie before and between those of the session.
    _run(path, model, other, [5])
    _run(path, model, cache, _IDS[:2])
    _run(path, model, other, [6, 7])
    tap = model.runner.tap(AttentionRequest(), len(_IDS))
    rows = _rows(path, model, _IDS[2:])
    beside = Slice(other, other.length, _rows(path, model, [8]))
    model.runner.run([beside, Slice(cache, 2, rows, tap)])
    eager = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager")
    with torch.inference_mode():
        shown = eager.model(torch.tensor([_IDS]), output_attentions=True).attentions
    wanted = torch.stack([layer[0, :, -1] for layer in shown])
    tolerance = 2e-3 if family in OF_TABLES else 1e-5
    torch.testing.assert_close(tap.rows().values, wanted, rtol=0, atol=tolerance)
    for each in (other, cache):
        each.release()


@pytest.mark.parametrize(
    "request_",
    [
        AttentionRequest(heads="mean"),
        AttentionRequest(top_k=2, dtype="f16"),
        AttentionRequest(layers=(1,), reduce="mean"),
    ],
)
def test_attention_is_reduced_as_it_is_asked_for(request_: AttentionRequest, made: Made) -> None:
    path, model = made("llama")
    whole, part = model.cells.new(), model.cells.new()
    rows = _rows(path, model, _IDS)
    everything = model.runner.tap(AttentionRequest(), len(_IDS))
    reduced = model.runner.tap(request_, len(_IDS))
    model.runner.run([Slice(whole, 0, rows, everything), Slice(part, 0, rows, reduced)])
    full, found = everything.rows().values, reduced.rows()
    if request_.top_k:
        values, positions = torch.topk(full, 2)
        torch.testing.assert_close(found.values, values.half(), rtol=0, atol=2e-3)
        assert found.positions is not None
        assert torch.equal(found.positions, positions.int())
    else:
        full = full[list(request_.layers) or slice(None)]
        torch.testing.assert_close(found.values, full.mean(1, keepdim=True), rtol=0, atol=1e-6)
    whole.release()
    part.release()


def test_one_pass_has_decode_rows_and_prefill_rows_of_three_sessions(made: Made) -> None:
    path, model = made("qwen2")
    texts = [[9, 8, 7, 6], [1, 2], [50, 60, 70, 80, 90]]
    caches = [model.cells.new() for _ in texts]
    for cache, ids in zip(caches, texts, strict=True):
        _run(path, model, cache, ids)
    more = [[33], [41, 42, 43, 44, 45], [11]]
    hidden = model.runner.run(
        [
            Slice(cache, cache.length, _rows(path, model, ids))
            for cache, ids in zip(caches, more, strict=True)
        ]
    )
    for ids, new, found in zip(texts, more, hidden, strict=True):
        wanted = _states(path, ids + new)[len(ids) :]
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
    for cache in caches:
        cache.release()


def test_a_cut_is_exact(made: Made) -> None:
    path, model = made("llama")
    cache = model.cells.new()
    _run(path, model, cache, _IDS)
    [found] = model.runner.run([Slice(cache, 2, _rows(path, model, [99, 98]))])
    torch.testing.assert_close(found, _states(path, [*_IDS[:2], 99, 98])[2:], rtol=2e-5, atol=2e-5)
    assert cache.length == 4
    cache.release()


def test_a_gap_in_positions_is_refused_and_the_cache_keeps_its_length(made: Made) -> None:
    path, model = made("llama")
    cache = model.cells.new()
    _run(path, model, cache, _IDS)
    with pytest.raises(ValueError, match="not where the sequence ends"):
        model.runner.run([Slice(cache, 9, _rows(path, model, [1]))])
    assert cache.length == len(_IDS)
    torch.testing.assert_close(
        _run(path, model, cache, [3]), _states(path, [*_IDS, 3])[-1:], rtol=2e-5, atol=2e-5
    )
    cache.release()


def test_rows_that_no_model_has_are_refused_before_they_reach_the_library(made: Made) -> None:
    _, model = made("llama")
    rows = np.zeros((2, 64), np.float32)
    rows[1, 5] = -2e6
    with pytest.raises(HiddenOverflow):
        model.runner.load(Tensor.from_f32(rows, "f32"))


def test_a_pass_that_fails_leaves_every_session_as_it_was(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = made("qwen3")
    first, second = model.cells.new(), model.cells.new()
    _run(path, model, first, _IDS)
    functions = model.runner._context._functions
    with monkeypatch.context() as broken:
        broken.setattr(functions, "llama_decode", lambda *_: -2)
        slices = [Slice(one, one.length, _rows(path, model, [4])) for one in (first, second)]
        with pytest.raises(MemoryError):
            model.runner.run(slices)
    assert (first.length, second.length) == (len(_IDS), 0)
    torch.testing.assert_close(
        _run(path, model, first, [3]), _states(path, [*_IDS, 3])[-1:], rtol=2e-5, atol=2e-5
    )
    # Which cells are whose is known again once all are free.
    with pytest.raises(AttentionAstray):
        model.runner.run(
            [
                Slice(
                    first,
                    first.length,
                    _rows(path, model, [3]),
                    model.runner.tap(AttentionRequest(), 8),
                )
            ]
        )
    first.release()
    second.release()
    tap = model.runner.tap(AttentionRequest(), 2)
    model.runner.run([Slice(second, 0, _rows(path, model, [3, 4]), tap)])
    assert tap.rows().values.shape[-1] == 2
    second.release()


def test_more_positions_than_cells_are_memory_that_is_not_there(
    tiny_path: Path, tmp_path: Path
) -> None:
    model = loaded(split_folder(tiny_path, tmp_path), cache_bytes=1)
    assert model.cells.count == 256
    caches = [model.cells.new() for _ in range(3)]
    rows = _rows(tiny_path, model, [7] * 128)
    for cache in caches[:2]:
        model.runner.run([Slice(cache, 0, rows)])
    with pytest.raises(MemoryError):
        model.runner.run([Slice(caches[2], 0, rows[:1])])
    caches[0].release()
    model.runner.run([Slice(caches[2], 0, rows)])
    assert caches[2].length == 128
