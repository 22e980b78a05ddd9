"""The web app's tokenizer against the library's: the same ids and the same text, or a refusal."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer

from tests.web.generation_peers import ask
from tests.web.hard_texts import code_points, contexts, hard_texts
from tests.web.tokenizer_zoo import zoo

NAMES = list(zoo())
ROWS = 1 << 20


def test_hard_texts_become_the_same_ids() -> None:
    texts = hard_texts(5200, seed=1)
    for name, file in zoo().items():
        assert_encodes_alike(name, file, texts)


@pytest.mark.slow
def test_every_code_point_becomes_the_same_ids_alone_and_in_context() -> None:
    texts = [text for character in code_points() for text in contexts(character)]
    for name, file in zoo().items():
        for start in range(0, len(texts), 200_000):
            assert_encodes_alike(name, file, texts[start : start + 200_000])


def assert_encodes_alike(name: str, file: str, texts: list[str]) -> None:
    tokenizer = Tokenizer.from_str(file)
    for special in (False, True) if len(texts) < 10_000 else (False,):
        answer = ask(
            "text_tokenize.js", {"file": file, "rows": ROWS, "texts": texts, "special": special}
        )
        assert "refused" not in answer, (name, answer)
        expected = tokenizer.encode_batch_fast(texts, add_special_tokens=special)
        wrong = [
            (text, ids, encoding.ids)
            for text, ids, encoding in zip(texts, answer["encoded"], expected, strict=True)
            if ids != encoding.ids
        ]
        assert not wrong, (name, len(wrong), wrong[:5])


def test_ids_become_the_same_text_at_once_and_piece_by_piece() -> None:
    texts = hard_texts(1500, seed=2)
    for name, file in zoo().items():
        tokenizer = Tokenizer.from_str(file)
        lists = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
        lists += random_ids(tokenizer.get_vocab_size(), 1500)
        answer = ask("text_tokenize.js", {"file": file, "rows": ROWS, "ids": lists})
        for index, ids in enumerate(lists):
            expected = [tokenizer.decode(ids), tokenizer.decode(ids, skip_special_tokens=False)]
            assert answer["decoded"][index] == expected, (name, ids)
            assert "".join(answer["pieces"][index]) == expected[0], (name, ids)


def random_ids(size: int, count: int) -> list[list[int]]:
    """Also of tokens that are no text by themselves, and of none."""
    chance = random.Random(3)  # noqa: S311
    return [
        [chance.randrange(size + 3) for _ in range(chance.randint(0, 12))] for _ in range(count)
    ]
