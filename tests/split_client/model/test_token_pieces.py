from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_client.model.token_pieces import Piece, pieces_of
from tests.split_client.generation.test_detokenizer import byte_fallback, byte_level


def covered(pieces: list[Piece]) -> list[int]:
    return [token for piece in pieces for token in range(piece.start, piece.stop)]


@given(st.lists(st.integers(0, 256), max_size=40))
def test_pieces_of_any_bytes_and_control_tokens_make_the_decoded_text_and_miss_no_token(
    ids: list[int],
) -> None:
    tokenizer = byte_level()
    pieces = pieces_of(tokenizer, ids)
    assert "".join(piece.text for piece in pieces) == tokenizer.decode(ids)
    assert covered(pieces) == list(range(len(ids)))


@given(st.lists(st.sampled_from(["▁Hello", "▁", "a", "é", "🙂", "</s>"]), max_size=12))
def test_pieces_of_sentencepiece_make_the_decoded_text(words: list[str]) -> None:
    tokenizer = byte_fallback()
    ids = []
    for word in words:
        known = tokenizer.token_to_id(word)
        ids += [known] if known is not None else [4 + byte for byte in word.encode()]
    pieces = pieces_of(tokenizer, ids)
    assert "".join(piece.text for piece in pieces) == tokenizer.decode(ids)
    assert covered(pieces) == list(range(len(ids)))


def test_a_character_of_several_tokens_is_one_piece() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("a€b").ids
    assert pieces_of(tokenizer, ids) == [Piece("a", 0, 1), Piece("€", 1, 4), Piece("b", 4, 5)]


def test_a_control_token_is_a_piece_of_its_own_without_text() -> None:
    tokenizer = byte_level()
    ids = [tokenizer.token_to_id("<|end|>"), *tokenizer.encode("a").ids]
    assert pieces_of(tokenizer, ids) == [Piece("", 0, 1), Piece("a", 1, 2)]
