from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from split_client.generation.sampling.logprobs import TokenLogprobs
from split_server.compat.openai.token_texts import TokenTexts


class Decoder:
    """A tokenizer as the server's rooms know it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        text: str = self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        return text


def metaspace() -> Tokenizer:
    """Pieces that begin with a space, which decoding drops at the beginning of a text."""
    vocab = {"▁": 0, "▁Hello": 1, "▁world": 2, "a": 3, "!": 4}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="!"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def test_the_space_before_a_word_belongs_to_its_token() -> None:
    texts = TokenTexts(Decoder(metaspace()), [3])
    assert [texts.text(token) for token in (1, 2, 4)] == [" Hello", " world", "!"]


@pytest.fixture
def bytewise(tiny_path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_path / "tokenizer.json"))


def test_tokens_of_a_reply_stand_where_its_text_has_them(bytewise: Tokenizer) -> None:
    text = "Grüße 東京! \U0001f600 done"
    ids = bytewise.encode(text).ids
    scorer = TokenTexts(Decoder(bytewise), bytewise.encode("a").ids).scorer()
    scored = [scorer.push(token, TokenLogprobs(-1.0, ((token, -1.0),))) for token in ids]
    whole = [token for token in scored if "\ufffd" not in token.text]
    assert len(whole) > 5
    for token in whole:
        assert text[token.offset : token.offset + len(token.text)] == token.text
        assert token.top == ((token.text, -1.0),)
    assert [token.offset for token in scored] == sorted(token.offset for token in scored)


def test_control_tokens_are_told_by_their_names(bytewise: Tokenizer) -> None:
    texts = TokenTexts(Decoder(bytewise), bytewise.encode("a").ids)
    assert texts.text(bytewise.token_to_id("<|im_end|>")) == "<|im_end|>"
