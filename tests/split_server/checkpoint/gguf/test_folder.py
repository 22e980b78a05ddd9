"""A GGUF becomes the folder that it was made of; transformers' own loader is the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.gguf import folder as rooms
from split_server.checkpoint.gguf.folder import write_folder
from split_server.checkpoint.gguf.names import NAMES
from split_server.checkpoint.gguf.source import Source
from split_server.errors import MalformedCheckpoint, NoSpaceForCheckpoint, UnsupportedFamily
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import OVERRIDES, as_gguf

_DIGEST = "ab" * 32
_PROMPT = [11, 45, 200, 7, 7, 131]


def _folder(file: Path, target: Path, dtype: str = "float32") -> Path:
    with Source(file) as source:
        write_folder(source, target, _DIGEST, dtype)
    return target


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("llama", tmp_path_factory.mktemp("llama") / "model")


@pytest.mark.parametrize("family", sorted(NAMES))
def test_a_file_of_each_family_is_the_model_it_was_made_of(family: str, tmp_path: Path) -> None:
    original = tiny_checkpoint(family, tmp_path / "hf", **OVERRIDES.get(family, {}))
    named = "Mistral Tiny" if family == "mistral" else "Tiny"
    made = _folder(as_gguf(original, tmp_path / "m.gguf", named=named), tmp_path / "made")
    assert json.loads((made / "config.json").read_text())["model_type"] == family
    torch.testing.assert_close(
        oracle.logits(made, _PROMPT), oracle.logits(original, _PROMPT), rtol=1e-4, atol=1e-4
    )
    read_checkpoint(made, "made")


# transformers takes a file for Mistral's by a name that ggml's tables no longer have.
@pytest.mark.parametrize("family", sorted(NAMES.keys() - {"mistral"}))
def test_tensors_are_those_of_transformers_to_the_last_bit(family: str, tmp_path: Path) -> None:
    tied = family.startswith("gemma")
    original = tiny_checkpoint(family, tmp_path / "hf", tied=tied, **OVERRIDES.get(family, {}))
    file = as_gguf(original, tmp_path / "m.gguf")
    made = _folder(file, tmp_path / "made", "bfloat16")
    model = AutoModelForCausalLM.from_pretrained(original)
    theirs = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=model)["tensors"]
    mine = load_file(made / "model.safetensors")
    assert mine.keys() == theirs.keys()
    for name, values in theirs.items():
        assert torch.equal(mine[name], values.to(torch.bfloat16)), name


def test_a_head_of_its_own_decides_that_ends_are_not_tied(llama: Path, tmp_path: Path) -> None:
    untied = tiny_checkpoint("llama", tmp_path / "hf", tied=False)
    of_two = _folder(as_gguf(untied, tmp_path / "two.gguf"), tmp_path / "two")
    of_one = _folder(as_gguf(llama, tmp_path / "one.gguf"), tmp_path / "one")
    assert json.loads((of_two / "config.json").read_text())["tie_word_embeddings"] is False
    assert json.loads((of_one / "config.json").read_text())["tie_word_embeddings"] is True


def test_the_folder_says_what_the_file_says_of_itself(llama: Path, tmp_path: Path) -> None:
    said = {
        "general.license": "apache-2.0",
        "general.sampling.temp": 0.25,
        "general.sampling.top_k": 7,
        "tokenizer.ggml.eot_token_id": 1,
    }
    checkpoint = read_checkpoint(
        _folder(as_gguf(llama, tmp_path / "m.gguf", metadata=said), tmp_path / "made"), "made"
    )
    assert checkpoint.licence == "apache-2.0"
    assert checkpoint.eos_token_ids == (2, 1)
    assert checkpoint.read_json("generation_config.json") == {
        "eos_token_id": [2, 1],
        "temperature": 0.25,
        "top_k": 7,
    }
    card = (checkpoint.path / "README.md").read_text()
    assert "# Tiny" in card
    assert _DIGEST in card


def test_a_name_of_many_lines_stays_one_line_of_the_card(llama: Path, tmp_path: Path) -> None:
    said = {"general.name": "A\n---\nlicense: mit\n\x1b[2J", "general.license": ""}
    made = _folder(as_gguf(llama, tmp_path / "m.gguf", metadata=said), tmp_path / "made")
    assert (made / "README.md").read_text().startswith("# A --- license: mit [2J\n")
    assert read_checkpoint(made, "made").licence is None


def _without(name: str) -> Any:
    return lambda tensors: {key: value for key, value in tensors.items() if key != name}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without("blk.1.ffn_up.weight"), "lacks the tensor blk.1.ffn_up.weight"),
        (_without("token_embd.weight"), "token_embd.weight"),
        (
            lambda tensors: tensors | {"rope_freqs.weight": tensors["output_norm.weight"]},
            "rope_freqs.weight, which no rule",
        ),
        (
            lambda tensors: (
                tensors | {"output_norm.weight": tensors["output_norm.weight"] * float("nan")}
            ),
            "output_norm.weight: .*not finite",
        ),
    ],
)
def test_what_would_give_another_model_is_refused_and_leaves_nothing(
    change: Any, words: str, llama: Path, tmp_path: Path
) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf", change=change)
    with pytest.raises(MalformedCheckpoint, match=words):
        _folder(file, tmp_path / "cache" / "made")
    assert not (tmp_path / "cache").exists() or not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("llama.rope.scaling.type", "yarn", "'yarn' is not read"),
        ("llama.rope.dimension_count", 8, "part of each head"),
        ("llama.attention.head_count", 0, "head_count"),
        ("llama.attention.head_count_kv", 3, "evenly"),
        ("llama.block_count", 100_000, "at most 1,024"),
        ("split.count", 3, "one of 3 parts"),
        ("tokenizer.ggml.pre", "viking", "'viking', which nobody has compared"),
        ("tokenizer.ggml.model", "bert", "'bert' is not read"),
        ("tokenizer.ggml.merges", ["Q~ ~Q"], "a merge"),
        ("tokenizer.ggml.eos_token_id", 70_000, "not in the vocabulary"),
        ("tokenizer.ggml.token_type", [1, 1], "do not fit"),
        ("tokenizer.ggml.eot_token_id", 70_000, "ends a reply is not in"),
    ],
)
def test_metadata_that_cannot_be_followed_is_refused_by_name(
    key: str, value: Any, words: str, llama: Path, tmp_path: Path
) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf", metadata={key: value})
    with pytest.raises(MalformedCheckpoint, match=words):
        _folder(file, tmp_path / "made")


@pytest.mark.parametrize("architecture", ["phi2", "gemma", "mamba"])
def test_a_family_that_was_not_tested_is_refused(
    architecture: str, llama: Path, tmp_path: Path
) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf", metadata={"general.architecture": architecture})
    with pytest.raises(UnsupportedFamily, match=f"{architecture} in GGUF"):
        _folder(file, tmp_path / "made")


def test_a_full_disk_is_told_before_anything_is_written(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda _: Usage)
    with pytest.raises(NoSpaceForCheckpoint, match="1000 are free"):
        _folder(as_gguf(llama, tmp_path / "m.gguf"), tmp_path / "cache" / "made")
    assert not list((tmp_path / "cache").iterdir())


def test_a_file_that_changes_meanwhile_is_refused(llama: Path, tmp_path: Path) -> None:
    file = as_gguf(llama, tmp_path / "m.gguf")
    with Source(file) as source:
        with file.open("ab") as other:
            other.write(b"x")
        with pytest.raises(MalformedCheckpoint, match="changed while"):
            write_folder(source, tmp_path / "made", _DIGEST, "float32")
    assert not (tmp_path / "made").exists()
