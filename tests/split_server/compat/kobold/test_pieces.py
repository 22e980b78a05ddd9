"""Texts of single tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from split_client.generation.detokenizer import Detokenizer
from split_client.generation.loop import TokenEvent, TokenTiming
from split_client.generation.stops import StopFilter
from split_client.model.tokenizer import ModelTokenizer
from split_client.tokenizer.engine import LibraryEngine
from split_server.compat.kobold.pieces import RunningTexts, Settling, token_text, token_texts
from tests.checkpoints import tiny_tokenizer
from tests.exhaustive import EXHAUSTIVE

TIMING = TokenTiming(0.0, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> ModelTokenizer:
    folder: Path = tmp_path_factory.mktemp("tokenizer")
    tiny_tokenizer(folder)
    return ModelTokenizer.open(folder / "tokenizer.json", 1000)


def word_tokenizer() -> ModelTokenizer:
    """Like Llama's: the first word of a text loses its space."""
    words = {"<unk>": 0, "▁Hello": 1, "▁world": 2, "!": 3, "<0xE6>": 4, "<0x9D>": 5, "<0xB1>": 6}
    plain = Tokenizer(models.BPE(words, [], unk_token="<unk>", byte_fallback=True))
    plain.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return ModelTokenizer(LibraryEngine(plain), 100)


@settings(deadline=None, max_examples=200 if EXHAUSTIVE else 50)
@given(text=st.text(max_size=60))
def test_texts_of_tokens_join_to_the_text(tokenizer: ModelTokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    texts = token_texts(tokenizer, ids)
    assert len(texts) == len(ids)
    assert "".join(texts) == text.encode("utf-8", "replace").decode()


@settings(deadline=None, max_examples=200 if EXHAUSTIVE else 50)
@given(ids=st.lists(st.integers(0, 330), max_size=40))
def test_texts_of_any_tokens_join_to_what_they_decode_to(
    tokenizer: ModelTokenizer, ids: list[int]
) -> None:
    whole = tokenizer.decode(ids, skip_special_tokens=False)
    assert "".join(token_texts(tokenizer, ids)) == whole


def test_special_tokens_have_their_text(tokenizer: ModelTokenizer) -> None:
    ids = tokenizer.encode("<|im_start|>Hi<|im_end|>")
    assert token_texts(tokenizer, ids)[0] == "<|im_start|>"
    assert token_text(tokenizer, ids[-1]) == "<|im_end|>"


def test_a_split_character_is_the_text_of_its_last_token(tokenizer: ModelTokenizer) -> None:
    ids = tokenizer.encode("\U0001f600")
    assert len(ids) > 1
    assert token_texts(tokenizer, ids) == [""] * (len(ids) - 1) + ["\U0001f600"]
    assert token_texts(tokenizer, ids[:-1])[-1] == tokenizer.decode(ids[:-1])


def test_a_decoder_that_strips_the_first_space_gets_context() -> None:
    tokenizer = word_tokenizer()
    assert token_texts(tokenizer, [1, 2, 3]) == ["Hello", " world", "!"]
    assert token_texts(tokenizer, [2, 4, 5, 6, 2]) == ["world", "", "", "東", " world"]


def events(tokenizer: ModelTokenizer, ids: list[int], stops: tuple[str, ...]) -> list[TokenEvent]:
    """What the decode loop makes of ``ids``."""
    detokenizer, filtered = Detokenizer(tokenizer), StopFilter(stops)
    return [TokenEvent(i, filtered.push(detokenizer.push(i)), 1.0, 1, TIMING) for i in ids]


def test_tokens_settle_at_once_unless_part_of_a_character_is_held_back(
    tokenizer: ModelTokenizer,
) -> None:
    ids = tokenizer.encode("ab\U0001f600c")
    settling = Settling(tokenizer, ())
    seen = [settling.settled(event) for event in events(tokenizer, ids, ())]
    assert seen == [bool(text) for text in token_texts(tokenizer, ids)]


def test_a_token_that_may_begin_a_stop_string_is_not_settled(tokenizer: ModelTokenizer) -> None:
    ids = [tokenizer.encode(letter)[0] for letter in "xSTyz"]
    settling = Settling(tokenizer, ("STOP",))
    seen = [settling.settled(event) for event in events(tokenizer, ids, ("STOP",))]
    assert seen == [True, False, False, True, True]


@pytest.mark.parametrize("length", [1, 2, 3, 5, 50])
def test_texts_of_tokens_that_come_in_parts_are_those_of_all(
    tokenizer: ModelTokenizer, length: int
) -> None:
    text = "Grüße 東京 \U0001f600\U0001f600 a\ufffdb <|im_end|> 한글" * 3
    ids, running, told = tokenizer.encode(text), RunningTexts(tokenizer), list[tuple[int, str]]()
    for begun in range(0, len(ids), length):
        told += running.push(ids[begun : begun + length])
    told += running.flush()
    assert [token for token, _ in told] == ids
    assert "".join(piece for _, piece in told) == tokenizer.decode(ids, False)
    assert [piece for _, piece in told] == token_texts(tokenizer, ids)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_text_in_parts_keeps_the_spaces_between_its_words(length: int) -> None:
    plain, ids = word_tokenizer(), [1, 2, 3, 4, 5, 6, 2, 1, 2, 2]
    running, told = RunningTexts(plain), list[tuple[int, str]]()
    for begun in range(0, len(ids), length):
        told += running.push(ids[begun : begun + length])
    told += running.flush()
    assert "".join(piece for _, piece in told) == plain.decode(ids, False)
