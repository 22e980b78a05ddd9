"""The web app's tokenizer against the library's: the same ids and the same text, or a refusal."""

from __future__ import annotations

import json
import random
import unicodedata
from functools import cache
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.exhaustive import EXHAUSTIVE
from tests.web.generation_peers import ask
from tests.web.text.hard_texts import code_points, contexts, hard_texts
from tests.web.text.tokenizer_zoo import zoo

ROWS = 1 << 20
MAIN = ("embedded", "llama 3", "qwen2, added tokens", "llama 2, added tokens", "gemma")
ALL = [
    *("embedded", "gpt2", "gpt2, prefix space", "llama 3", "qwen2", "cased", "possessive"),
    *("scripts", "digits", "runs of digits", "llama 2", "metaspace first", "metaspace always"),
    *("metaspace never", "gemma", "words", "qwen2, added tokens", "llama 2, added tokens"),
    *("metaspace first, added tokens", "gemma, added tokens", "ignored merges"),
    *("some bytes without a token", "unknown one by one", "characters without a token"),
]
BATCH = 200_000
# Every character with every kind takes 40 s of CPU a kind; else the embedded model's kind has them
# all, the others in turns with two contexts each.
# Of these, by their names, and of what is unassigned, one in so many stands for the others.
UNIFORM = ("CJK ", "HANGUL SYLLABLE", "TANGUT", "KHITAN", "NUSHU", "EGYPTIAN")
THINNED = 120
LINES = 64


def test_every_tokenizer_is_compared() -> None:
    assert list(zoo()) == ALL


@pytest.mark.parametrize("name", MAIN)
def test_hard_texts_become_the_same_ids(name: str) -> None:
    assert_encodes_alike([name], hard_texts(5200, seed=1))


def test_hard_texts_become_the_same_ids_with_every_kind_of_part() -> None:
    assert_encodes_alike(ALL, hard_texts(500, seed=5))
    assert_encodes_alike(ALL, hard_texts(200, seed=6), special=True)


@cache
def parted() -> tuple[list[str], list[str]]:
    """Every code point: those that count one by one, and those whose neighbours are like them."""
    single, uniform = [], []
    for character in code_points():
        called = unicodedata.name(character, "")
        alike = called == "" or called.startswith(UNIFORM)
        (uniform if alike and ord(character) > 0xFF else single).append(character)
    return single, uniform


def texts_around(name: str) -> list[str]:
    """Of every code point, what is this kind's turn."""
    if EXHAUSTIVE:
        return [text for character in code_points() for text in contexts(character)]
    single, uniform = parted()
    some = [*single, *uniform[::THINNED]]
    if name != "embedded":
        turn = some[ALL.index(name) :: len(ALL)]
        return [
            text
            for place, character in enumerate(turn)
            for text in contexts(character)[place % 2 :: 2]
        ]
    # A line each: what follows a line's end is cut as the beginning of a text is.
    lines = [f"a{character}\n" for character in uniform]
    packed = ["".join(lines[start : start + LINES]) for start in range(0, len(lines), LINES)]
    return [text for character in some for text in contexts(character)[:2]] + packed


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_code_point_becomes_the_same_ids_alone_and_in_context(name: str) -> None:
    texts = texts_around(name)
    for start in range(0, len(texts), BATCH):
        assert_encodes_alike([name], texts[start : start + BATCH])
    if EXHAUSTIVE:
        assert_encodes_alike([name], hard_texts(10_000, seed=7))


def test_ids_become_the_same_text_at_once_and_piece_by_piece() -> None:
    if EXHAUSTIVE:
        for name in ALL:
            assert_decodes_alike([name], texts=5000, drawn=5000)
    else:
        assert_decodes_alike(ALL, texts=200, drawn=150)


def test_a_file_in_an_older_form_gives_the_same_ids() -> None:
    """Merges come as pairs or as one text, with or without the options that have defaults."""
    document = json.loads(zoo()["llama 3"])
    model = document["model"]
    model["merges"] = [" ".join(pair) for pair in model["merges"]]
    for name in ("dropout", "fuse_unk", "byte_fallback", "ignore_merges", "end_of_word_suffix"):
        del model[name]
    file = json.dumps(document, indent=1)
    texts = hard_texts(300, seed=8)
    expected = Tokenizer.from_str(file).encode_batch_fast(texts, add_special_tokens=False)
    assert asked([{"file": file, "texts": texts}])[0]["encoded"] == [
        encoding.ids for encoding in expected
    ]


def asked(requests: list[dict[str, Any]]) -> list[Any]:
    answers = ask("text/tokenize.js", [{"rows": ROWS} | request for request in requests])
    for answer in answers:
        assert "refused" not in answer, answer
    return list(answers)


def assert_encodes_alike(names: list[str], texts: list[str], *, special: bool = False) -> None:
    files = [zoo()[name] for name in names]
    answers = asked([{"file": file, "texts": texts, "special": special} for file in files])
    for name, file, answer in zip(names, files, answers, strict=True):
        expected = Tokenizer.from_str(file).encode_batch_fast(texts, add_special_tokens=special)
        wrong = [
            (text, ids, encoding.ids)
            for text, ids, encoding in zip(texts, answer["encoded"], expected, strict=True)
            if ids != encoding.ids
        ]
        assert not wrong, (name, len(wrong), wrong[:5])


def assert_decodes_alike(names: list[str], *, texts: int, drawn: int) -> None:
    """Ids of texts, and any ids: also those that are no text by themselves, and of no token."""
    files = [zoo()[name] for name in names]
    tokenizers = [Tokenizer.from_str(file) for file in files]
    lists = [drawn_ids(tokenizer, texts, drawn) for tokenizer in tokenizers]
    requests = [{"file": file, "ids": ids} for file, ids in zip(files, lists, strict=True)]
    for index, answer in enumerate(asked(requests)):
        decode = tokenizers[index].decode
        for ids, decoded, pieces in zip(
            lists[index], answer["decoded"], answer["pieces"], strict=True
        ):
            expected = [decode(ids), decode(ids, skip_special_tokens=False)]
            assert decoded == expected, (names[index], ids)
            assert "".join(pieces) == expected[0], (names[index], ids)


def drawn_ids(tokenizer: Tokenizer, texts: int, drawn: int) -> list[list[int]]:
    lists = [encoding.ids for encoding in tokenizer.encode_batch_fast(hard_texts(texts, seed=2))]
    chance = random.Random(3)  # noqa: S311
    rows = tokenizer.get_vocab_size() + 3
    lists += [[chance.randrange(rows) for _ in range(chance.randint(0, 12))] for _ in range(drawn)]
    return lists
