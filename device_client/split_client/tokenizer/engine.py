"""The engine of a tokenizer: what turns text into ids and back, here or in a process."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tokenizers import Tokenizer

from split_client.errors import TokenizerInvalid

# Characters that take a few milliseconds.
_LONG = 8192


class Engine(Protocol):
    """``size``: ids that it makes are below it; ``control``: texts of control tokens by id;
    ``added``: texts that always become one token, those of control tokens among them.
    """

    @property
    def size(self) -> int: ...

    @property
    def control(self) -> dict[int, str]: ...

    @property
    def added(self) -> frozenset[str]: ...

    def encode(self, text: str, special: bool) -> list[int]:
        """Ids of ``text``, which has no lone surrogates; ``special`` adds what a plain prompt
        begins and ends with. Raises TextTooCostly.
        """

    def decode(self, ids: list[int], skip_special: bool) -> str:
        """The text of ``ids``. Raises TextTooCostly."""

    def to_json(self) -> str:
        """The text of its file, without truncation and padding."""

    def close(self) -> None:
        """End what it runs."""


class LibraryEngine:
    """The ``tokenizers`` library in this process."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        # What a training run left in the file must not cut or fill up a prompt.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.size: int = tokenizer.get_vocab_size(with_added_tokens=True)
        added = tokenizer.get_added_tokens_decoder()
        self.control = {index: token.content for index, token in added.items() if token.special}
        self.added = frozenset(token.content for token in added.values())

    @classmethod
    def open(cls, path: Path) -> LibraryEngine:
        """Read a ``tokenizer.json``. Raises TokenizerInvalid."""
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The Rust library raises plain Exception for whatever is wrong with the file.
        except Exception as error:
            raise TokenizerInvalid("its file is damaged") from error
        return cls(tokenizer)

    def encode(self, text: str, special: bool) -> list[int]:
        """Ids of ``text``."""
        if len(text) < _LONG:
            encoded = self._tokenizer.encode(text, add_special_tokens=special)
        else:
            # Of the library's methods only those for batches let other threads go on meanwhile.
            [encoded] = self._tokenizer.encode_batch_fast([text], add_special_tokens=special)
        ids: list[int] = encoded.ids
        return ids

    def decode(self, ids: list[int], skip_special: bool) -> str:
        """The text of ``ids``; ids without a token (padding rows of the model) have none."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=skip_special)
        return text

    def to_json(self) -> str:
        """The text of its file."""
        text: str = self._tokenizer.to_str()
        return text

    def close(self) -> None:
        """Nothing runs."""
