"""Text to token ids and back, with the model's own tokenizer file."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer

from split_client.errors import TokenizerInvalid

# Characters that take a few milliseconds.
_LONG = 8192


class ModelTokenizer:
    """``rows``: how many ids have an embedding; a file that makes others is refused.

    Control tokens written out in a text become control tokens, as they do in Hugging Face's
    default.
    """

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        self._tokenizer = tokenizer
        self._longest = 0
        # What a training run left in the file must not cut or fill up a prompt.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        if tokenizer.get_vocab_size(with_added_tokens=True) > rows:
            raise TokenizerInvalid(f"it has more tokens than the model's {rows} embeddings")
        added = tokenizer.get_added_tokens_decoder()
        self._control = {index: token.content for index, token in added.items() if token.special}

    @classmethod
    def open(cls, path: Path, rows: int) -> ModelTokenizer:
        """Read a ``tokenizer.json``. Raises TokenizerInvalid."""
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The Rust library raises plain Exception for whatever is wrong with the file.
        except Exception as error:
            raise TokenizerInvalid("its file is damaged") from error
        return cls(tokenizer, rows)

    def to_json(self) -> str:
        """The text of its file, without truncation and padding."""
        text: str = self._tokenizer.to_str()
        return text

    def longest_token(self) -> int:
        """Characters of the longest token as its file writes it: one for each byte or character."""
        if not self._longest:
            self._longest = max(map(len, self._tokenizer.get_vocab(with_added_tokens=True)))
        return self._longest

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        """Ids of ``text``; ``add_special_tokens`` adds what a plain prompt begins with."""
        # A lone surrogate (from a file name or a broken pipe) is no text and has no UTF-8.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        if len(clean) < _LONG:
            encoded = self._tokenizer.encode(clean, add_special_tokens=add_special_tokens)
        else:
            # Of the library's methods only those for batches let other threads go on meanwhile.
            [encoded] = self._tokenizer.encode_batch_fast(
                [clean], add_special_tokens=add_special_tokens
            )
        ids: list[int] = encoded.ids
        return ids

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ``ids``; ids without a token (padding rows of the model) have none."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        return text

    def encode_after(self, ids: list[int], text: str) -> list[int] | None:
        """Ids of ``text`` as it continues ``ids``, None where only the whole text can tell.

        The two sides of a control token never merge. Elsewhere they may, and some tokenizers begin
        a text with a space of their own.
        """
        before = self._control.get(ids[-1]) if ids else None
        if before is not None:
            joined = self.encode(before + text)
            return joined[1:] if joined[:1] == ids[-1:] else None
        rest = self.encode(text)
        after = self._control.get(rest[0]) if rest else None
        return rest if after is not None and text.startswith(after) else None
