"""The texts of a checkpoint, in the spellings that checkpoints use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.texts import (
    chat_template,
    generation_defaults,
    special_tokens,
    tokenizer_json,
)
from split_server.errors import MalformedCheckpoint
from tests.checkpoints import tiny_tokenizer


def _checkpoint(path: Path, **files: Any) -> Checkpoint:
    for name, value in files.items():
        (path / f"{name}.json").write_text(json.dumps(value), "utf-8")
    return Checkpoint(path, "test", {}, {}, None)


def test_merges_become_strings_and_the_tokenizer_stays_the_same(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer(tmp_path)
    stored = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert isinstance(stored["model"]["merges"][0], list)
    served = tokenizer_json(_checkpoint(tmp_path))
    merges = json.loads(served)["model"]["merges"]
    assert merges == [f"{left} {right}" for left, right in stored["model"]["merges"]]
    text = "What is split inference? Grüße <|im_end|>"
    assert Tokenizer.from_str(served.decode()).encode(text).ids == tokenizer.encode(text).ids


@pytest.mark.parametrize("merges", [[["a b", "c"], ["d", "e"]], ["a b", "c d"], []])
def test_merges_that_cannot_or_need_not_change_are_served_as_they_are(
    merges: list[Any], tmp_path: Path
) -> None:
    checkpoint = _checkpoint(tmp_path, tokenizer={"model": {"merges": merges}})
    assert tokenizer_json(checkpoint) == (tmp_path / "tokenizer.json").read_bytes()


def test_a_checkpoint_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedCheckpoint, match="fast tokenizer"):
        tokenizer_json(_checkpoint(tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", '{"model": 3}'])
def test_a_broken_tokenizer_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(MalformedCheckpoint, match=r"tokenizer\.json"):
        tokenizer_json(_checkpoint(tmp_path))


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("{{ a }}", "{{ a }}"),
        ([{"name": "tool", "template": "t"}, {"name": "default", "template": "d"}], "d"),
        ([{"name": "tool", "template": "t"}], None),
        ({"default": "d", "rag": "r"}, "d"),
        (None, None),
        (7, None),
    ],
)
def test_the_template_of_the_tokenizer_configuration(
    stored: object, expected: str | None, tmp_path: Path
) -> None:
    checkpoint = _checkpoint(tmp_path, tokenizer_config={"chat_template": stored})
    assert chat_template(checkpoint) == expected


def test_the_template_file_wins_over_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text("file", "utf-8")
    checkpoint = _checkpoint(tmp_path, tokenizer_config={"chat_template": "configuration"})
    assert chat_template(checkpoint) == "file"


def test_special_tokens_are_read_in_both_spellings(tmp_path: Path) -> None:
    checkpoint = _checkpoint(
        tmp_path,
        special_tokens_map={"unk_token": "<unk>", "bos_token": "old"},
        tokenizer_config={
            "bos_token": {"content": "<s>", "lstrip": False},
            "eos_token": "</s>",
            "pad_token": None,
            "add_bos_token": True,
        },
    )
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    assert special_tokens(checkpoint) == tokens


def test_only_known_numbers_are_generation_defaults(tmp_path: Path) -> None:
    settings = {"temperature": 0.7, "top_k": 20, "top_p": None, "min_p": "x", "do_sample": True}
    settings |= {"repetition_penalty": float("inf")}
    checkpoint = _checkpoint(tmp_path, generation_config=settings)
    assert generation_defaults(checkpoint) == {"temperature": 0.7, "top_k": 20}
