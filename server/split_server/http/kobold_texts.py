"""Kobold's tokenizer: text to tokens with their texts, tokens to text, and counts."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.routing import Route

from split_client.generation.detokenizer import Decoder
from split_server.compat.kobold.errors import InvalidRequest
from split_server.compat.kobold.given import Given
from split_server.compat.kobold.pieces import token_texts
from split_server.compat.kobold.request import MAX_TEXT
from split_server.compat.parts import Compat
from split_server.http.kobold_answers import Posted, dumped

TOKENIZE_PATH = "/api/v1/tokenize"
DETOKENIZE_PATH = "/api/v1/detokenize"
COUNT_PATH = "/api/extra/tokencount"
# More than any body of a request holds.
_MOST_TOKENS = 1 << 24


class KoboldTexts:
    """Answers beside running generations, off the event loop."""

    def __init__(self, compat: Compat, posted: Posted) -> None:
        self._compat, self._posted = compat, posted

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
        given = Given(values)
        ids = await self._encoded(given, "text", bool(given.flag("add_special_tokens")))
        return await asyncio.to_thread(_told, self._compat.generator.ends.tokenizer, ids)

    async def detokenize(self, values: dict[str, Any]) -> bytes:
        """The text of ids, special tokens included. Raises KoboldError."""
        given = Given(values)
        if given.name("token_ids") is None:
            raise InvalidRequest("'token_ids' is missing")
        ids = given.tokens(self._compat.generator.info.vocab_size, _MOST_TOKENS, "token_ids")
        return dumped({"text": await self._compat.texts.decode(ids, skip_special=False)})

    async def count(self, values: dict[str, Any]) -> bytes:
        """How many tokens a prompt has. Raises KoboldError."""
        given = Given(values)
        ids = await self._encoded(given, "prompt", given.flag("special") is not False)
        return dumped({"value": len(ids), "ids": ids})

    async def _encoded(self, given: Given, name: str, special: bool) -> list[int]:
        text = given.text(MAX_TEXT, name)
        if text is None:
            raise InvalidRequest(f"{name!r} is missing")
        return await self._compat.texts.encode(text, special=special)


def _told(decoder: Decoder, ids: list[int]) -> bytes:
    """Tokens with their texts; a long text takes long enough to be put together on a thread."""
    texts = zip(ids, token_texts(decoder, ids), strict=True)
    tokens = [{"token_id": token, "text": text} for token, text in texts]
    return dumped({"tokens": tokens, "token_ids": ids, "token_count": len(ids)})
