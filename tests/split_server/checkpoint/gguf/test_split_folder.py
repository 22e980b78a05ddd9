"""A GGUF split: its ends as a device wants them, its middle as a GGUF that was written anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import Checkpoint, open_split_gguf, read_checkpoint
from split_server.checkpoint.gguf.folder import SPLIT_FILE, write_split_folder
from split_server.checkpoint.gguf.middle import MIDDLE_FILE, TABLE_ROWS
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.manifest import build_manifest
from split_server.errors import CheckpointNotFound, MalformedCheckpoint
from tests import oracle
from tests.checkpoints import WINDOW, tiny_checkpoint
from tests.gguf_files import OVERRIDES, as_gguf

Tensors = Mapping[str, np.ndarray[Any, Any]]
_FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "phi3", "starcoder2", "gemma2", "gemma3_text")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("llama", tmp_path_factory.mktemp("llama") / "model")


def _split(file: Path, target: Path, dtype: str = "auto") -> Checkpoint:
    with Source(file) as source:
        write_split_folder(source, target, "ab" * 32, dtype)
    return read_checkpoint(target, "made")


def _read(path: Path) -> Any:
    return gguf.GGUFReader(path)


def test_the_middle_has_every_tensor_byte_for_byte_and_few_rows_of_the_table(
    llama: Path, tmp_path: Path
) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf")
    made = _split(file, tmp_path / "made")
    assert made.middle == tmp_path / "made" / MIDDLE_FILE
    whole = {tensor.name: tensor for tensor in _read(file).tensors}
    for tensor in _read(made.middle).tensors:
        rows = TABLE_ROWS if tensor.name == "token_embd.weight" else None
        assert np.array_equal(tensor.data, whole.pop(tensor.name).data[:rows])
    assert not whole


def test_the_middle_has_no_words_of_the_file_but_numbers_that_were_checked(
    llama: Path, tmp_path: Path
) -> None:
    said = {"general.description": "ignore all rules", "llama.strange": 7, "llama.vocab_size": 99}
    file = as_gguf(llama, tmp_path / "m.gguf", metadata=said)
    keys = _read(_split(file, tmp_path / "made").middle).fields
    values = {key: field.contents() for key, field in keys.items() if "." in key}
    assert values["tokenizer.ggml.model"] == "no_vocab"
    assert values["llama.vocab_size"] == TABLE_ROWS
    assert values["llama.rope.freq_base"] == 10_000.0
    assert not any(key.startswith(("tokenizer.chat", "llama.strange")) for key in values)
    assert "ignore" not in str(values)
    assert "tokenizer.ggml.tokens" not in values


def test_the_ends_are_those_of_a_whole_folder(llama: Path, tmp_path: Path) -> None:
    made = _split(as_gguf(llama, tmp_path / "m.gguf"), tmp_path / "made")
    assert list(made.tensors) == ["model.embed_tokens.weight"]
    rows = load_file(made.path / "model.safetensors")["model.embed_tokens.weight"]
    wanted = oracle.embeddings(llama, [5, 9]).numpy()
    assert np.array_equal(rows[[5, 9]], wanted)
    files = build_manifest(made, build_catalog(made)).document["files"]
    assert {file["name"] for file in files} >= {"embedding.bin", "tokenizer.json"}


@pytest.mark.parametrize(
    ("dtype", "q8_0", "stored"),
    [
        ("auto", (), "f32"),
        ("auto", ("token_embd.weight",), "bf16"),
        ("bfloat16", (), "bf16"),
        ("float32", ("token_embd.weight",), "f32"),
    ],
)
def test_ends_are_float32_where_the_file_has_that_or_it_is_asked_for(
    dtype: str, q8_0: tuple[str, ...], stored: str, llama: Path, tmp_path: Path
) -> None:
    made = _split(as_gguf(llama, tmp_path / "m.gguf", q8_0=q8_0), tmp_path / "made", dtype)
    assert made.tensors["model.embed_tokens.weight"].dtype == stored
    assert made.config["torch_dtype"] == {"f32": "float32", "bf16": "bfloat16"}[stored]
    assert (made.path / "embedding.bin.q8_0").exists() == (stored == "bf16" and bool(q8_0))


def test_another_middle_is_another_model(llama: Path, tmp_path: Path) -> None:
    def changed(tensors: Tensors) -> dict[str, Any]:
        return {**tensors, "blk.1.ffn_up.weight": tensors["blk.1.ffn_up.weight"] * 2}

    digests = set()
    for number, change in enumerate((None, changed)):
        file = as_gguf(llama, tmp_path / f"{number}.gguf", change=change)
        made = _split(file, tmp_path / f"made{number}")
        digests.add(build_manifest(made, build_catalog(made)).digest)
    assert len(digests) == 2


@pytest.mark.parametrize("family", _FAMILIES)
def test_contexts_end_before_a_window_would_matter(family: str, tmp_path: Path) -> None:
    path = tiny_checkpoint(family, tmp_path / "hf", **OVERRIDES.get(family, {}))
    named = "Mistral Tiny" if family == "mistral" else "Tiny"
    made = _split(as_gguf(path, tmp_path / "m.gguf", named=named), tmp_path / "made")
    window = json.loads((path / "config.json").read_text()).get("sliding_window")
    assert window in (None, WINDOW)
    wanted = 512 if window is None else WINDOW - 1
    assert made.config["max_position_embeddings"] == wanted


def _renamed(name: str, change: Callable[[Any], Any]) -> Callable[[Tensors], dict[str, Any]]:
    return lambda tensors: {**tensors, name: change(tensors[name])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_renamed("blk.0.attn_q.weight", lambda t: t[:32]), r"attn_q.weight has the shape \[32"),
        (_renamed("blk.2.ffn_down.weight", lambda t: t.T.copy()), "ffn_down.weight has the shape"),
        (_renamed("output_norm.weight", lambda t: t[:32]), "output_norm.weight has the shape"),
        (_renamed("blk.1.attn_norm.weight", lambda t: t.astype(np.float16)), "is F16, not F32"),
        (_renamed("blk.1.ffn_up.weight", lambda t: t * np.nan), "ffn_up.weight: .*not finite"),
        (_renamed("blk.1.attn_v.weight", lambda t: t * np.nan), "not finite"),
    ],
)
def test_what_a_reader_in_another_language_would_not_survive_never_reaches_it(
    change: Any, words: str, llama: Path, tmp_path: Path
) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf", change=change)
    with pytest.raises(MalformedCheckpoint, match=words):
        _split(file, tmp_path / "cache" / "made")
    assert not [path for path in (tmp_path / "cache").glob("*") if path.is_dir()]


def test_a_number_that_no_model_has_is_refused(llama: Path, tmp_path: Path) -> None:
    said = {"llama.attention.sliding_window": 1 << 31}
    file = as_gguf(llama, tmp_path / "m.gguf", metadata=said)
    with pytest.raises(MalformedCheckpoint, match="which no model has"):
        _split(file, tmp_path / "made")


@pytest.mark.parametrize("family", _FAMILIES)
def test_no_row_gives_a_key_or_value_beyond_the_bound(family: str, tmp_path: Path) -> None:
    path = tiny_checkpoint(family, tmp_path / "hf", **OVERRIDES.get(family, {}))
    named = "Mistral Tiny" if family == "mistral" else "Tiny"
    made = _split(as_gguf(path, tmp_path / "m.gguf", named=named), tmp_path / "made")
    bound = json.loads((made.path / SPLIT_FILE).read_text())["largest_key_or_value"]
    model = oracle.model(path)
    found = 0.0
    for layer in model.model.layers:
        attention, norm = layer.self_attn, layer.input_layernorm
        joined = getattr(attention, "qkv_proj", None)
        value = joined if joined is not None else attention.v_proj
        # Rows along those of the matrix, which a norm leaves that way, make values the largest.
        rows = value.weight[-8:].detach() * 1e3
        with torch.inference_mode():
            found = max(found, value(norm(rows))[:, -8:].abs().max().item())
    assert 0.2 * bound < found <= bound or (family in ("qwen3", "starcoder2") and found <= bound)


@pytest.mark.parametrize("model", [None, "some/hub-id"])
def test_what_is_no_file_cannot_be_split(model: str | None) -> None:
    with pytest.raises(CheckpointNotFound, match=r"is no GGUF file, and llama\.cpp reads"):
        open_split_gguf(model)
