from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import AutoTokenizer

from split_client.errors import TokenizerInvalid
from split_client.model.tokenizer import ModelTokenizer
from split_client.tokenizer.engine import LibraryEngine
from split_server.checkpoint.folder import EMBEDDED

ROWS = 4096


@pytest.fixture(scope="module")
def tokenizer() -> ModelTokenizer:
    return ModelTokenizer.open(EMBEDDED / "tokenizer.json", ROWS)


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_ids_and_text_are_those_of_transformers(text: str) -> None:
    ours = ModelTokenizer.open(EMBEDDED / "tokenizer.json", ROWS)
    theirs = AutoTokenizer.from_pretrained(EMBEDDED)
    ids = ours.encode(text, add_special_tokens=True)
    assert ids == theirs(text).input_ids
    assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True)


def test_text_continues_after_a_control_token(tokenizer: ModelTokenizer) -> None:
    before, after = "Hello<|im_end|>", "\n<|im_start|>user\nHi"
    ids = tokenizer.encode(before)
    assert tokenizer.encode_after(ids, after) == tokenizer.encode(before + after)[len(ids) :]


def test_text_that_begins_with_a_control_token_continues_anything(
    tokenizer: ModelTokenizer,
) -> None:
    ids = tokenizer.encode("Hello wor")
    rest = "<|im_end|>\nHi"
    assert tokenizer.encode_after(ids, rest) == tokenizer.encode(rest)


def test_text_that_might_merge_is_not_continued(tokenizer: ModelTokenizer) -> None:
    assert tokenizer.encode_after(tokenizer.encode("Hello wor"), "ld") is None
    assert tokenizer.encode_after([], "Hello") is None


def test_a_tokenizer_that_begins_texts_with_a_space_adds_none_in_the_middle(
    tmp_path: Path,
) -> None:
    raw = Tokenizer(models.BPE({"▁": 0, "a": 1, "▁a": 2}, [("▁", "a")]))
    raw.normalizer = normalizers.Prepend("▁")
    raw.decoder = decoders.Replace("▁", " ")
    raw.add_special_tokens(["</s>"])
    tokenizer = ModelTokenizer(LibraryEngine(raw), 10)
    whole = tokenizer.encode("a</s>a")
    assert tokenizer.encode_after(whole[:2], "a") == whole[2:]


def test_a_lone_surrogate_does_not_end_a_chat(tokenizer: ModelTokenizer) -> None:
    assert tokenizer.encode("a\udc80") == tokenizer.encode("a?")


def test_more_tokens_than_embeddings_are_refused() -> None:
    with pytest.raises(TokenizerInvalid, match="embeddings"):
        ModelTokenizer.open(EMBEDDED / "tokenizer.json", 100)


@pytest.mark.parametrize("content", ["", "{}", "[" * 10_000, '{"model": {"type": "BPE"}}', "\x00"])
def test_a_damaged_file_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(TokenizerInvalid) as caught:
        ModelTokenizer.open(path, ROWS)
    assert caught.value.code == "tokenizer_invalid"


def test_truncation_and_padding_of_the_file_are_ignored(tmp_path: Path) -> None:
    raw = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    raw.enable_truncation(2)
    raw.enable_padding(length=50)
    path = tmp_path / "tokenizer.json"
    raw.save(str(path))
    plain = ModelTokenizer.open(EMBEDDED / "tokenizer.json", ROWS)
    assert ModelTokenizer.open(path, ROWS).encode("a b c d e") == plain.encode("a b c d e")


def test_the_text_of_its_file_makes_the_same_tokenizer(tokenizer: ModelTokenizer) -> None:
    again = ModelTokenizer(LibraryEngine(Tokenizer.from_str(tokenizer.to_json())), ROWS)
    assert again.encode("What is split inference?") == tokenizer.encode("What is split inference?")
