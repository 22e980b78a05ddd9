"""Token ids of a GGUF's vocabulary, against a plain reading of what its tokenizer is.

Byte-level BPE: the text is cut by the pattern that the family's makers published, and neighbours
join in the order of the merges (Sennrich et al. 2016, arXiv 1508.07909). SentencePiece: the
neighbours whose union has the best score join, the leftmost first (Kudo and Richardson 2018, arXiv
1808.06226).
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
from tokenizers import Tokenizer
from transformers.convert_slow_tokenizer import TikTokenConverter, bytes_to_unicode
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX as QWEN2

from split_server.checkpoint.gguf.folder import write_folder
from split_server.checkpoint.gguf.pretokenizers import WAYS
from split_server.checkpoint.gguf.source import Source
from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.gguf_files import as_gguf

_LINES = 10_000 if EXHAUSTIVE else 300
_PARTS = (
    *("the", " model", "Hello", " don't", "WE'LL", " caf\u00e9", "\u6771\u4eac", "\u0645\u0631"),
    *("1", "23", " 4567", "\u00bd", "\u0663", "1.", "a1b2", "10_000", "3.14e-9", " "),
    *("  ", "   ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n", "\u3000", "\u00a0"),
    *("def f(x):", "{}", " ==", "!!!", " ...", "\U0001f600", "e\u0301", "_", "-", "'s"),
)
# GPT-2's (https://github.com/openai/gpt-2, src/encoder.py).
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = inspect.signature(TikTokenConverter.__init__).parameters["pattern"].default


def _lines(count: int) -> Iterable[str]:
    draw = random.Random(3)  # noqa: S311 - a test
    for _ in range(count):
        yield "".join(draw.choices(_PARTS, k=draw.randint(1, 12)))


def _cut(pattern: str) -> Callable[[str], list[str]]:
    compiled = regex.compile(pattern)
    return lambda text: compiled.findall(text)


def _digits_first(text: str) -> list[str]:
    return [word for part in regex.findall(r"\p{N}|\P{N}+", text) for word in _cut(_GPT2)(part)]


_CUT = {
    "gpt-2": _cut(_GPT2),
    "smollm": _digits_first,
    "starcoder": _digits_first,
    "qwen2": _cut(QWEN2),
    "llama-bpe": _cut(_LLAMA3),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("llama", tmp_path_factory.mktemp("llama") / "model", vocab_size=2000)


def _tokenizer(hf: Path, folder: Path, **said: Any) -> Tokenizer:
    metadata = {f"tokenizer.ggml.{key}": value for key, value in said.items()}
    with Source(as_gguf(hf, folder / "m.gguf", metadata=metadata)) as source:
        write_folder(source, folder / "made", "ab" * 32, "bfloat16")
    return Tokenizer.from_file(str(folder / "made" / "tokenizer.json"))


def _trained(way: str) -> tuple[list[str], list[str]]:
    """Pieces and merges of a byte-level BPE that learned from lines cut this way."""
    letters = bytes_to_unicode()
    words = [
        [letters[byte] for byte in word.encode()]
        for line in _lines(200)
        for word in _CUT[way](line)
    ]
    pieces, merges = ["<s>", "</s>", *letters.values()], []
    for _ in range(100):
        counts: dict[tuple[str, str], int] = {}
        for word in words:
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        left, right = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(f"{left} {right}")
        if left + right not in pieces:
            pieces.append(left + right)
        words = [_joined(word, left, right) for word in words]
    return pieces, merges


def _joined(word: list[str], left: str, right: str) -> list[str]:
    made: list[str] = []
    for piece in word:
        if made and made[-1] == left and piece == right:
            made[-1] = left + right
        else:
            made.append(piece)
    return made


def _plain_bpe(text: str, way: str, pieces: list[str], merges: list[str]) -> list[int]:
    letters, ids = bytes_to_unicode(), {piece: n for n, piece in enumerate(pieces)}
    ranks = {tuple(merge.split(" ")): n for n, merge in enumerate(merges)}
    found = []
    for word in _CUT[way](text):
        whole = "".join(letters[byte] for byte in word.encode())
        parts = [whole] if WAYS[way].whole_words and whole in ids else list(whole)
        while pairs := [p for p in pairwise(parts) if p in ranks]:
            parts = _joined(parts, *min(pairs, key=lambda pair: ranks[pair]))
        found += [ids[part] for part in parts]
    return found


@pytest.mark.parametrize("way", sorted(WAYS))
def test_ids_are_those_of_the_published_pattern_and_the_merges(
    way: str, model: Path, tmp_path: Path
) -> None:
    pieces, merges = _trained(way)
    tokenizer = _tokenizer(
        model,
        tmp_path,
        pre=way,
        tokens=pieces,
        token_type=[3, 3, *[1] * (len(pieces) - 2)],
        merges=merges,
        add_bos_token=False,
        eos_token_id=1,
    )
    for line in _lines(_LINES):
        ids = tokenizer.encode(line).ids
        text = tokenizer.normalizer.normalize_str(line) if way == "qwen2" else line
        assert ids == _plain_bpe(text, way, pieces, merges), line
        assert tokenizer.decode(ids) == text


@pytest.mark.parametrize(
    ("said", "starts", "ends"),
    [
        ({"pre": "gpt-2"}, False, False),
        ({"pre": "llama-bpe"}, True, False),
        ({"pre": "llama-bpe", "add_bos_token": False}, False, False),
        ({"pre": "gpt-2", "add_bos_token": True, "add_eos_token": True}, True, True),
    ],
)
def test_bos_and_eos_are_put_around_a_text_as_the_file_says(
    said: dict[str, Any], starts: bool, ends: bool, model: Path, tmp_path: Path
) -> None:
    tokenizer = _tokenizer(model, tmp_path, **said)
    ids = tokenizer.encode("Hello").ids
    assert (ids[0] == 0, ids[-1] == 2) == (starts, ends)
    assert len(tokenizer.encode("Hello", add_special_tokens=False).ids) == (
        len(ids) - starts - ends
    )


def test_control_tokens_are_found_in_a_text_and_left_out_of_a_reply(
    model: Path, tmp_path: Path
) -> None:
    """The second is one of its user's own, which is text."""
    tokenizer = _tokenizer(
        model, tmp_path, token_type=[3, 4, *[1] * 318], bos_token_id=0, eos_token_id=2
    )
    ids = tokenizer.encode("<|endoftext|>a<|im_start|>b").ids
    assert ids[0] == 0
    assert ids[2] == 1
    assert tokenizer.decode(ids) == "a<|im_start|>b"


_SPACE = "\u2581"
_WORDS = ("the", "them", "theme", "he", "hem", "eme", "me", "th", "ab", "aba", "bab", "abab")


def _pieces() -> tuple[list[str], list[float], list[int]]:
    """A SentencePiece vocabulary: special ones, bytes, letters, and words whose order of joining
    is that of their scores, not of their length."""
    letters = sorted({*"themab", _SPACE, "\u6771"})
    words = [*_WORDS, *(_SPACE + word for word in _WORDS), _SPACE * 2]
    random.Random(1).shuffle(words)  # noqa: S311 - a test
    joins = [word for word in words if len(word) > 1]
    reachable: list[str] = []
    for word in sorted(joins, key=len):
        known = {*letters, *reachable}
        if any(word[:n] in known and word[n:] in known for n in range(1, len(word))):
            reachable.append(word)
    ordered = [word for word in joins if word in reachable]
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256)), *ordered, *letters]
    kinds = [2, 3, 3, *[6] * 256, *[1] * (len(ordered) + len(letters))]
    return pieces, [-float(n) for n in range(len(pieces))], kinds


def _plain_sentence_piece(text: str, pieces: list[str], scores: list[float]) -> list[int]:
    ids = {piece: n for n, piece in enumerate(pieces)}
    parts = list(text.replace(" ", _SPACE))
    while True:
        unions = [
            (scores[ids[left + right]], -n)
            for n, (left, right) in enumerate(pairwise(parts))
            if left + right in ids
        ]
        if not unions:
            break
        n = -max(unions)[1]
        parts[n : n + 2] = [parts[n] + parts[n + 1]]
    found = []
    for part in parts:
        found += [ids[part]] if part in ids else [ids[f"<0x{b:02X}>"] for b in part.encode()]
    return found


@pytest.mark.parametrize("prefixed", [True, False])
def test_sentence_piece_joins_by_score_and_falls_back_to_bytes(
    prefixed: bool, model: Path, tmp_path: Path
) -> None:
    pieces, scores, kinds = _pieces()
    tokenizer = _tokenizer(
        model,
        tmp_path,
        model="llama",
        pre=None,
        merges=None,
        tokens=pieces,
        scores=scores,
        token_type=kinds,
        bos_token_id=1,
        eos_token_id=2,
        unknown_token_id=0,
        padding_token_id=None,
        add_space_prefix=prefixed,
    )
    draw = random.Random(2)  # noqa: S311 - a test
    for _ in range(_LINES):
        text = "".join(draw.choices([*_WORDS, " ", "  ", "\u6771", "x", "\n", "\u00e9"], k=8))
        ids = tokenizer.encode(text).ids
        said = " " + text if prefixed else text
        assert ids == [1, *_plain_sentence_piece(said, pieces, scores)], text
        assert tokenizer.decode(ids) == text
