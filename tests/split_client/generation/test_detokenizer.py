from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from split_client.generation.detokenizer import Detokenizer

_BYTES = [chr(c) for c in range(33, 127)]


def byte_level() -> Tokenizer:
    """One token per byte, as byte-level BPE has them, and one special token."""
    from tokenizers.pre_tokenizers import ByteLevel

    alphabet = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


def byte_fallback() -> Tokenizer:
    """SentencePiece's way: words with a mark for the space, and bytes for what has no word."""
    words = ["▁Hello", "▁world", "▁", "a"] + [f"<0x{b:02X}>" for b in range(256)]
    tokenizer = Tokenizer(models.BPE({w: i for i, w in enumerate(words)}, [], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer


def streamed(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    detokenizer = Detokenizer(tokenizer)
    return [detokenizer.push(i) for i in ids] + [detokenizer.flush()]


@given(st.text(max_size=30))
def test_the_pieces_of_any_text_make_the_whole(text: str) -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode(text).ids
    assert "".join(streamed(tokenizer, ids)) == text


@given(st.lists(st.integers(0, 256), max_size=15))
def test_the_pieces_of_any_bytes_make_what_decoding_them_makes(ids: list[int]) -> None:
    tokenizer = byte_level()
    assert "".join(streamed(tokenizer, ids)) == tokenizer.decode(ids)


@given(st.lists(st.sampled_from(["▁Hello", "▁world", "a", "é", "東", "🙂", "</s>"]), max_size=12))
def test_spaces_and_byte_tokens_of_sentencepiece_come_out_whole(words: list[str]) -> None:
    tokenizer = byte_fallback()
    ids = []
    for word in words:
        known = tokenizer.token_to_id(word)
        ids += [known] if known is not None else [4 + byte for byte in word.encode()]
    assert "".join(streamed(tokenizer, ids)) == tokenizer.decode(ids)


def test_a_split_character_is_held_back_until_it_is_whole() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("a€b").ids
    assert streamed(tokenizer, ids) == ["a", "", "", "€", "b", ""]


def test_what_comes_before_a_split_character_is_not_held_back() -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens(["ĠâĤ", "¬", "¬!"])
    first, rest = (tokenizer.token_to_id(token) for token in ("ĠâĤ", "¬"))
    assert streamed(tokenizer, [first, rest, first, rest]) == [" ", "€", " ", "€", ""]


def test_half_a_character_at_the_end_becomes_a_replacement() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("€").ids[:2]
    assert streamed(tokenizer, ids) == ["", "", "\ufffd"]


def test_special_tokens_have_no_text() -> None:
    tokenizer = byte_level()
    ids = [*tokenizer.encode("a").ids, tokenizer.token_to_id("<|end|>")]
    assert "".join(streamed(tokenizer, ids)) == "a"


@pytest.mark.parametrize("length", [16, 1000])
def test_bytes_that_never_become_text_are_not_held_for_ever(length: int) -> None:
    tokenizer = byte_level()
    broken = tokenizer.encode("é").ids[1]
    pieces = streamed(tokenizer, [broken] * length)
    assert any(pieces[:16])
    assert set("".join(pieces)) == {"\ufffd"}


class Counting:
    """Counts the ids that it is asked to decode."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.ids = 0

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        self.ids += len(ids)
        return str(self._tokenizer.decode(ids, skip_special_tokens))


@pytest.mark.parametrize("make", [byte_level, byte_fallback])
@pytest.mark.parametrize("before", ["", "a"], ids=["at the beginning", "after a text"])
@pytest.mark.parametrize("beyond", [0, 1], ids=["control tokens", "ids without a token"])
def test_a_run_of_tokens_without_text_costs_as_much_for_each_of_them(
    make: Callable[[], Tokenizer], before: str, beyond: int
) -> None:
    tokenizer = make()
    control = max(tokenizer.get_vocab().values()) + beyond
    ids = [tokenizer.token_to_id(token) for token in before]
    decoder = Counting(tokenizer)
    detokenizer = Detokenizer(decoder)
    pieces = [detokenizer.push(token) for token in [*ids, *[control] * 500, *ids]]
    assert "".join(pieces) == before * 2
    assert decoder.ids < 25 * 500


@given(st.lists(st.sampled_from(["▁", "▁Hello", "a", "é", "</s>"]), max_size=12))
def test_control_tokens_between_others_change_nothing_of_their_text(words: list[str]) -> None:
    tokenizer = byte_fallback()
    ids = []
    for word in words:
        known = tokenizer.token_to_id(word)
        ids += [known] if known is not None else [4 + byte for byte in word.encode()]
    assert "".join(streamed(tokenizer, ids)) == tokenizer.decode(ids)
