"""Tokenizers of the families' kinds, trained on a few texts: byte-level and SentencePiece-like."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from tests.web.text.hard_texts import CORPUS

REPOSITORY = Path(__file__).parents[3]
EMBEDDED = REPOSITORY / "server/split_server/embedded/tokenizer.json"

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# Classes of one character each, as later patterns of byte-level tokenizers have them.
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
POSSESSIVE = (
    r"(?i:[sdmtk]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++(?!\S)|\s+"
)
SCRIPTS = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|\d|\x{1F600}|\u00e9|."
)
ADDED = [
    AddedToken("<|plain|>", normalized=False),
    AddedToken("<left>", lstrip=True, normalized=False),
    AddedToken("<right>", rstrip=True, normalized=False, special=True),
    AddedToken("<both>", lstrip=True, rstrip=True, normalized=False),
    AddedToken("word", single_word=True, normalized=False),
    AddedToken("wörd", single_word=True, lstrip=True, rstrip=True, normalized=True),
    AddedToken("normal word", normalized=True),
    AddedToken("normal", normalized=True, special=True),
    AddedToken("<|plain|><|plain|>x", normalized=False),
    AddedToken("é", normalized=True),
    AddedToken("  ", normalized=False),
    AddedToken("\n\n", normalized=False, special=True),
    AddedToken("😀", normalized=False),
]


@cache
def zoo() -> dict[str, str]:
    """Files by name."""
    made = {
        "embedded": Tokenizer.from_file(str(EMBEDDED)),
        "gpt2": _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)),
        "gpt2, prefix space": _byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True)),
        "llama 3": _llama3(),
        "qwen2": _byte_level(_split(QWEN2), normalizers.NFC()),
        "cased": _byte_level(_split(CASED)),
        "possessive": _byte_level(_split(POSSESSIVE)),
        "scripts": _byte_level(_split(SCRIPTS)),
        "digits": _byte_level(_digits(individual=True)),
        "runs of digits": _byte_level(_digits(individual=False)),
        "llama 2": _sentence_piece(_prepended()),
        "metaspace first": _metaspace("first", split=False),
        "metaspace always": _metaspace("always", split=True),
        "metaspace never": _metaspace("never", split=True),
        "gemma": _sentence_piece(_gemma()),
        "words": _words(),
    }
    for name in ("qwen2", "llama 2", "metaspace first", "gemma"):
        tokenizer = Tokenizer.from_str(made[name].to_str())
        for token in ADDED:
            # Metaspace's first and normalised tokens are apart in tests of what is refused.
            tokenizer.add_tokens([token])
        made[f"{name}, added tokens"] = tokenizer
    return {name: tokenizer.to_str() for name, tokenizer in made.items()} | _edited(made)


def _split(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _digits(*, individual: bool) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=individual),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )


def _byte_level(cut: pre_tokenizers.PreTokenizer, normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = cut
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=alphabet, show_progress=False, min_frequency=1
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens(["<|end|>", "<|start|>"])
    return tokenizer


def _llama3() -> Tokenizer:
    tokenizer = _byte_level(_split(LLAMA3))
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="<|start|> $A", special_tokens=[("<|start|>", 901)]
            ),
        ]
    )
    return tokenizer


def _prepended() -> dict[str, Any]:
    return {
        "normalizer": normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        ),
        "pre_tokenizer": None,
        "strip": True,
    }


def _gemma() -> dict[str, Any]:
    return {
        "normalizer": normalizers.Replace(" ", "▁"),
        "pre_tokenizer": pre_tokenizers.Split(" ", behavior="merged_with_previous"),
        "strip": False,
    }


def _metaspace(scheme: str, *, split: bool) -> Tokenizer:
    cut = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    parts = {"normalizer": None, "pre_tokenizer": cut, "strip": scheme != "never"}
    tokenizer = _sentence_piece(parts)
    if split:
        tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
    return tokenizer


def _sentence_piece(parts: dict[str, Any]) -> Tokenizer:
    """BPE over characters, with tokens for bytes: trained on words, then without the cut."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    fixed = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(
        vocab_size=1100, special_tokens=fixed, show_progress=False, min_frequency=1
    )
    trained.train_from_iterator(CORPUS[: len(CORPUS) // 2], trainer)
    document = json.loads(trained.to_str())
    document["model"] |= {"byte_fallback": True, "fuse_unk": True}
    document["added_tokens"] = document["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    if parts["normalizer"] is not None:
        tokenizer.normalizer = parts["normalizer"]
    tokenizer.pre_tokenizer = parts["pre_tokenizer"]
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if parts["strip"]:
        steps.append(decoders.Strip(" ", 1, 0))
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return tokenizer


def _words() -> Tokenizer:
    """No decoder, unknown characters one by one, cuts that drop what they match."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\s+"), behavior="removed"),
            pre_tokenizers.Split(Regex(r"[\p{P}\p{S}]"), behavior="merged_with_next"),
            pre_tokenizers.Split("-", behavior="contiguous"),
            pre_tokenizers.Split(Regex(r"\p{L}+"), behavior="removed", invert=False),
        ]
    )
    tokenizer.train_from_iterator(
        CORPUS[::3],
        trainers.BpeTrainer(vocab_size=300, special_tokens=["[UNK]"], show_progress=False),
    )
    tokenizer.pre_tokenizer = tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\s+"), behavior="removed"),
            pre_tokenizers.Split(Regex(r"[\p{P}\p{S}]"), behavior="merged_with_next"),
            pre_tokenizers.Split("-", behavior="contiguous"),
        ]
    )
    return tokenizer


def _edited(made: dict[str, Tokenizer]) -> dict[str, str]:
    """Options that no trainer sets."""
    llama3 = json.loads(made["llama 3"].to_str())
    llama3["model"]["ignore_merges"] = True
    # Not reachable by merges.
    llama3["model"]["merges"] = llama3["model"]["merges"][::2]
    vocabulary = llama3["model"]["vocab"]
    llama3["model"]["merges"] = [
        pair
        for pair in llama3["model"]["merges"]
        if all(part in vocabulary for part in (*pair, "".join(pair)))
    ]
    partial = json.loads(made["gemma"].to_str())
    partial["model"]["vocab"] = {
        token: index
        for token, index in partial["model"]["vocab"].items()
        if not (token.startswith("<0x") and index % 5 == 0)
    }
    single = json.loads(json.dumps(partial))
    single["model"]["fuse_unk"] = False
    silent = json.loads(made["gpt2"].to_str())
    for token in list("aĠZ"):
        merges = silent["model"]["merges"]
        silent["model"]["merges"] = [pair for pair in merges if token not in "".join(pair)]
        kept = {"".join(pair) for pair in silent["model"]["merges"]}
        silent["model"]["vocab"] = {
            key: index
            for key, index in silent["model"]["vocab"].items()
            if key in kept or (len(key) == 1 and key != token)
        }
    vocabulary = silent["model"]["vocab"]
    silent["model"]["vocab"] = {token: index for index, token in enumerate(vocabulary)}
    silent["added_tokens"] = []
    return {
        "ignored merges": json.dumps(llama3),
        "some bytes without a token": json.dumps(partial),
        "unknown one by one": json.dumps(single),
        "characters without a token": json.dumps(silent),
    }
