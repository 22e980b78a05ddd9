"""Tokenizer files by strangers: what they cost, this process survives."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from split_client.errors import TextTooCostly, TokenizerInvalid
from split_client.model.tokenizer import ModelTokenizer
from split_client.tokenizer.bounded import is_bounded
from split_client.tokenizer.confined import ConfinedEngine
from split_client.tokenizer.document import read_document
from split_server.checkpoint.folder import EMBEDDED

ROWS = 4096
FILE = EMBEDDED / "tokenizer.json"
TEXT = "Grüße aus 東京 \U0001f600 <|im_end|> ok"


def growing() -> dict[str, Any]:
    """Each of eight replacements makes a text 256 times as long."""
    part = {"type": "Replace", "pattern": {"String": "x"}, "content": "x" * 256}
    return {"normalizer": {"type": "Sequence", "normalizers": [part] * 8}}


def split(pattern: str) -> dict[str, Any]:
    part = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    level["trim_offsets"] = True
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [part, level]}}


def written(folder: Path, values: dict[str, Any]) -> Path:
    document = json.loads(FILE.read_text())
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document | values))
    return path


@pytest.mark.parametrize(
    ("values", "text"),
    [(growing(), "x" * 8), (split("(x+x+)+y"), "x" * 400)],
)
def test_a_costly_file_fails_by_name_and_the_next_text_is_tokenized(
    tmp_path: Path, values: dict[str, Any], text: str
) -> None:
    tokenizer = ModelTokenizer.open(written(tmp_path, values), ROWS)
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(TextTooCostly) as caught:
            tokenizer.encode(text)
        assert caught.value.code == "text_too_costly"
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 64 << 10, "kilobytes of this process"
        assert tokenizer.decode(tokenizer.encode("Hello")) == "Hello"
    finally:
        tokenizer.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_file_that_cannot_be_opened_within_the_limits_is_refused() -> None:
    engine = ConfinedEngine(FILE, memory=24 << 20, seconds=5)
    with pytest.raises(TokenizerInvalid):
        engine.open()


def test_a_text_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    engine = ConfinedEngine(written(tmp_path, split("(x+x+)+y")), seconds=1.0)
    try:
        with pytest.raises(TextTooCostly):
            engine.encode("x" * 30 + " " + "x" * 2000, False)
    finally:
        engine.close()


def test_a_file_in_its_process_gives_what_it_gives_here(tmp_path: Path) -> None:
    """A pattern that nobody knows, so that it is not run here."""
    path = written(tmp_path, split(r"\p{L}+|\s+|[^\s\p{L}]+"))
    plain = Tokenizer.from_file(str(path))
    tokenizer = ModelTokenizer.open(path, ROWS)
    try:
        ids = tokenizer.encode(TEXT)
        assert ids == plain.encode(TEXT).ids
        assert tokenizer.decode(ids, False) == plain.decode(ids, skip_special_tokens=False)
        assert tokenizer.encode_after(tokenizer.encode("a<|im_end|>"), "b") == plain.encode("b").ids
        assert json.loads(tokenizer.to_json()) == json.loads(plain.to_str())
        assert tokenizer.cuts is None
    finally:
        tokenizer.close()
    with pytest.raises(TokenizerInvalid, match="embeddings"):
        ModelTokenizer.open(path, 100)


def test_whoever_chose_the_model_has_it_run_here(tmp_path: Path) -> None:
    path = written(tmp_path, split("a+"))
    tokenizer = ModelTokenizer.open(path, ROWS, trusted=True)
    assert not isinstance(tokenizer._engine, ConfinedEngine)


def bounded(values: dict[str, Any]) -> bool:
    return is_bounded(json.loads(FILE.read_text()) | values)


def replaced(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def surrounded(pieces: list[Any], ids: list[int]) -> dict[str, Any]:
    token = {"id": "<s>", "ids": ids, "tokens": ["<s>"] * len(ids)}
    single = {"type": "TemplateProcessing", "single": pieces, "special_tokens": {"<s>": token}}
    return {"post_processor": single}


A: dict[str, Any] = {"Sequence": {"id": "A", "type_id": 0}}
S: dict[str, Any] = {"SpecialToken": {"id": "<s>", "type_id": 0}}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"normalizer": replaced(" ", "▁"), "decoder": replaced("▁", " ")},
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}},
        surrounded([S, A, S], [1]),
    ],
)
def test_parts_of_models_in_use_run_here(values: dict[str, Any]) -> None:
    assert bounded(values)


@pytest.mark.parametrize(
    "values",
    [
        growing(),
        split("(x+x+)+y"),
        {"normalizer": replaced("", "x")},
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "x"}, "content": ""}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}},
        {"decoder": replaced("a", "a" * 100)},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}] * 17}},
        {"pre_tokenizer": {"type": "UnicodeScripts"}},
        {"model": {"type": "Unigram", "vocab": []}},
        {"model": {"type": "BPE", "vocab": {"a" * 5000: 0}, "merges": []}},
        {"added_tokens": [{"content": "a" * 5000}]},
        surrounded([A, A], [1]),
        surrounded([S, A], [1] * 100),
    ],
)
def test_whatever_may_cost_more_than_its_text_does_not(values: dict[str, Any]) -> None:
    assert not bounded(values)


def test_a_file_with_two_meanings_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"normalizer": {"type": "NFC", "type": "Replace"}}')
    assert read_document(path) is None
    path.write_text("[" + ",".join(["0"] * 2_000_001) + "]")
    assert read_document(path) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_worker_ends_with_its_parent() -> None:
    """Its requests end, and so does it."""
    worker = [sys.executable, "-P", "-m", "split_client.tokenizer.worker", str(1 << 29), str(FILE)]
    ended = subprocess.run(worker, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert ended.returncode == 0
