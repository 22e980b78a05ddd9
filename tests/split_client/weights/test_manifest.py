from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.errors import ManifestInvalid
from split_client.weights.manifest import MAX_MANIFEST_BYTES, parse_manifest
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import EMBEDDED, open_checkpoint
from split_server.checkpoint.manifest import build_manifest
from tests.split_client.weights.offers import (
    CHUNK,
    DOCUMENT,
    FILES,
    HIDDEN,
    VOCAB,
    document,
    encoded,
    file_entry,
)


def test_what_the_server_writes_is_read_completely() -> None:
    checkpoint = open_checkpoint(None)
    served = build_manifest(checkpoint, build_catalog(checkpoint))
    manifest = parse_manifest(served.data)
    config = json.loads((EMBEDDED / "config.json").read_text())
    assert manifest.digest == served.digest
    assert manifest.hidden_size == config["hidden_size"]
    assert manifest.max_context == config["max_position_embeddings"]
    assert manifest.head.rows == manifest.vocab_size == config["vocab_size"]
    assert {file.name for file in manifest.files} >= {"embedding.bin", "tokenizer.json"}


def test_every_value_is_taken_over() -> None:
    data = encoded(DOCUMENT)
    manifest = parse_manifest(data)
    assert manifest.digest == sha256(data).hexdigest()
    assert (manifest.name, manifest.family, manifest.licence) == ("tiny", "qwen2", "apache-2.0")
    assert manifest.eos_token_ids == {3}
    assert manifest.special_tokens == {"eos_token": "</s>"}
    assert manifest.generation == {"temperature": 0.7, "top_k": 20}
    assert manifest.size == sum(map(len, FILES.values()))
    assert manifest.file("embedding.bin").span(4) == (4 * CHUNK, VOCAB * HIDDEN * 4 - 4 * CHUNK)


def test_files_that_the_device_does_not_need_are_left_out_and_unknown_keys_ignored() -> None:
    extra = document(future="?", files=[*DOCUMENT["files"], file_entry("legacy.bin", b"x")])
    assert "legacy.bin" not in {file.name for file in parse_manifest(encoded(extra)).files}


def test_an_untied_head_with_a_bias_is_read() -> None:
    head, bias = bytes(1000 * HIDDEN * 2), bytes(4 * 1000)
    changed = document(
        ends__lm_head={
            "file": "head.bin",
            "dtype": "bf16",
            "rows": 1000,
            "bias": "head_bias.bin",
            "softcap": 30.0,
            "logit_scale": 0.5,
        },
        files=[
            *DOCUMENT["files"],
            file_entry("head.bin", head),
            file_entry("head_bias.bin", bias),
        ],
    )
    entry = parse_manifest(encoded(changed)).head
    assert (entry.rows, entry.dtype, entry.bias) == (1000, "bf16", "head_bias.bin")
    assert (entry.softcap, entry.logit_scale, entry.divide) == (30.0, 0.5, False)


def test_a_divisor_of_logits_stands_in_place_of_the_factor() -> None:
    head = DOCUMENT["ends"]["lm_head"] | {"logit_scale": None, "logit_divisor": 10.0}
    entry = parse_manifest(encoded(document(ends__lm_head=head))).head
    assert (entry.logit_scale, entry.divide) == (10.0, True)


_LONG_NAME = "a" * 200
_EVIL_NAMES = [
    "../tokenizer.json",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "..",
    ".hidden",
    "",
    "con\0",
    "a\nb",
    "\u202etxt",
    _LONG_NAME,
    "C:evil",
    7,
    None,
]


@pytest.mark.parametrize("name", _EVIL_NAMES)
def test_names_that_are_not_plain_are_refused(name: Any) -> None:
    files = [*DOCUMENT["files"][:1], file_entry("x", b"{}") | {"name": name}]
    with pytest.raises(ManifestInvalid):
        parse_manifest(encoded(document(tokenizer=name, files=files, chat_template=None)))


_WRONG: list[dict[str, Any]] = [
    {"format": 2},
    {"format": "1"},
    {"model": []},
    {"model__name": ""},
    {"model__licence": 5},
    {"hidden_size": 0},
    {"hidden_size": -64},
    {"hidden_size": 64.0},
    {"hidden_size": True},
    {"hidden_size": 1 << 40},
    {"hidden_size": 32},
    {"vocab_size": 1101},
    {"vocab_size": 10**12},
    {"num_layers": None},
    {"max_context": 0},
    {"eos_token_ids": [1100]},
    {"eos_token_ids": [-1]},
    {"eos_token_ids": [True]},
    {"eos_token_ids": "3"},
    {"ends__embedding__dtype": "int4"},
    {"ends__embedding__dtype": "f16"},
    {"ends__embedding__rows": 1099},
    {"ends__embedding__scale": "8"},
    {"ends__embedding__file": "missing.bin"},
    {"ends__embedding__file": "tokenizer.json"},
    {"ends__lm_head__rows": 1101},
    {"ends__lm_head__rows": 1000},
    {"ends__lm_head__bias": "embedding.bin"},
    {"ends__lm_head__softcap": -1.0},
    {"ends__lm_head__logit_scale": 0},
    {"ends__lm_head__logit_scale": None},
    {"ends__lm_head__logit_divisor": 10.0},
    {"ends__lm_head": DOCUMENT["ends"]["lm_head"] | {"logit_scale": None, "logit_divisor": 0}},
    {"ends__lm_head": DOCUMENT["ends"]["lm_head"] | {"logit_scale": None, "logit_divisor": "8"}},
    {"tokenizer": "embedding.bin"},
    {"chat_template": "embedding.bin"},
    {"chat_template": "nowhere.jinja"},
    {"special_tokens": []},
    {"special_tokens": {"eos_token": 5}},
    {"generation": {"temperature": "hot"}},
    {"files": {}},
    {"files": []},
    {"files": [None]},
    {"files": [DOCUMENT["files"][0]] * 2},
    {"files": [*DOCUMENT["files"], file_entry("Embedding.bin", b"x")]},
    {"files": [*DOCUMENT["files"], file_entry("manifest.json", b"x")]},
]


@pytest.mark.parametrize("changes", _WRONG, ids=[json.dumps(wrong)[:60] for wrong in _WRONG])
def test_a_value_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ManifestInvalid) as caught:
        parse_manifest(encoded(document(**changes)))
    assert caught.value.code == "manifest_invalid"


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 0},
        {"size": VOCAB * HIDDEN * 4 + 1},
        {"chunk_size": 1},
        {"chunk_size": 1 << 40},
        {"chunks": []},
        {"chunks": ["0" * 64] * 4},
        {"chunks": ["0" * 63] * 5},
        {"chunks": ["G" * 64] * 5},
        {"sha256": None},
    ],
    ids=str,
)
def test_a_file_whose_chunks_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    files = [DOCUMENT["files"][0] | changes, *DOCUMENT["files"][1:]]
    with pytest.raises(ManifestInvalid):
        parse_manifest(encoded(document(files=files)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": NaN}',
        b'{"format": 1e999}',
        b'{"format": ' + b"9" * 5000 + b"}",
        b" " * (MAX_MANIFEST_BYTES + 1),
    ],
    ids=range(10),
)
def test_bytes_that_are_no_manifest_are_refused(data: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        parse_manifest(data)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
_PATHS = ["model", "ends", "ends__embedding", "ends__lm_head", "files", "eos_token_ids"]
_PATHS += [*DOCUMENT, "ends__lm_head__file", "ends__embedding__rows", "generation"]


@given(st.sampled_from(_PATHS), _JSON)
def test_no_value_anywhere_makes_anything_but_a_manifest_or_its_refusal(
    path: str, value: Any
) -> None:
    try:
        manifest = parse_manifest(encoded(document(**{path: value})))
    except ManifestInvalid:
        return
    assert manifest.embedding.rows * manifest.hidden_size * 4 == len(FILES["embedding.bin"])
