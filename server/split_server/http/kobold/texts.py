"""Kobold's tokenizer: text to tokens with their texts, tokens to text, and counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.routing import Route

from split_client.model.tokenizer import ModelTokenizer
from split_server.compat.kobold.errors import InvalidRequest
from split_server.compat.kobold.fields import Fields
from split_server.compat.kobold.pieces import token_texts
from split_server.compat.kobold.request import MAX_TEXT
from split_server.compat.parts import Compat
from split_server.http.kobold.answers import Posted, dumped, dumped_list

TOKENIZE_PATH = "/api/v1/tokenize"
DETOKENIZE_PATH = "/api/v1/detokenize"
COUNT_PATH = "/api/extra/tokencount"
# More than any body of a request holds.
_MOST_TOKENS = 1 << 24
_SHORT = 1000


class KoboldTexts:
    """Answers at once, also beside running generations."""

    def __init__(self, compat: Compat, posted: Posted) -> None:
        self._posted = posted
        self._tokenizer = compat.generator.ends.tokenizer
        self._vocab_size = compat.generator.info.vocab_size

    def routes(self) -> list[Route]:
        """Three paths."""
        answers = {
            TOKENIZE_PATH: self.tokenize,
            DETOKENIZE_PATH: self.detokenize,
            COUNT_PATH: self.count,
        }
        return [
            Route(path, self._posted.endpoint(answer), methods=["POST"])
            for path, answer in answers.items()
        ]

    async def tokenize(self, values: dict[str, Any]) -> bytes:
        """Tokens whose texts, joined, are what the ids decode to. Raises KoboldError."""
        fields = Fields(values)
        text, special = _text(fields, "text"), bool(fields.flag("add_special_tokens"))
        return await _beside(len(text), lambda: _tokens(self._tokenizer, text, special))

    async def detokenize(self, values: dict[str, Any]) -> bytes:
        """The text of ids, special tokens included. Raises KoboldError."""
        fields = Fields(values)
        if fields.name("token_ids") is None:
            raise InvalidRequest("'token_ids' is missing")
        ids = list(fields.tokens(self._vocab_size, _MOST_TOKENS, "token_ids"))
        decode = self._tokenizer.decode
        return await _beside(len(ids), lambda: dumped({"text": decode(ids, False)}))

    async def count(self, values: dict[str, Any]) -> bytes:
        """The number of tokens that a prompt has. Raises KoboldError."""
        fields = Fields(values)
        text, special = _text(fields, "prompt"), fields.flag("special") is not False
        return await _beside(len(text), lambda: _count(self._tokenizer, text, special))


async def _beside(size: int, work: Callable[[], bytes]) -> bytes:
    """Return what ``work`` does; long work (``size`` in characters or tokens) on a thread.

    Short work takes less than the way to a thread and back beside running generations.
    """
    return work() if size <= _SHORT else await asyncio.to_thread(work)


def _text(fields: Fields, name: str) -> str:
    text = fields.text(MAX_TEXT, name)
    if text is None:
        raise InvalidRequest(f"{name!r} is missing")
    return text


def _tokens(tokenizer: ModelTokenizer, text: str, special: bool) -> bytes:
    ids = tokenizer.encode(text, add_special_tokens=special)
    texts = zip(ids, token_texts(tokenizer, ids), strict=True)
    tokens = [{"token_id": token, "text": piece} for token, piece in texts]
    return b'{"tokens": %b, "token_ids": %b, "token_count": %d}' % (
        dumped_list(tokens),
        dumped_list(ids),
        len(ids),
    )


def _count(tokenizer: ModelTokenizer, text: str, special: bool) -> bytes:
    ids = tokenizer.encode(text, add_special_tokens=special)
    return b'{"value": %d, "ids": %b}' % (len(ids), dumped_list(ids))
