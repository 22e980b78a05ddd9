"""Kobold's tokenizer: text to tokens with their texts, tokens to text, and counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from starlette.routing import Route

from split_server.compat.kobold.errors import InvalidRequest, TextTooLong
from split_server.compat.kobold.fields import Fields
from split_server.compat.kobold.pieces import RunningTexts
from split_server.compat.kobold.request import MAX_TEXT
from split_server.compat.parts import Compat
from split_server.http.kobold.answers import Posted, dumped, dumped_list
from split_server.http.wire.quota import Quota, Share

TOKENIZE_PATH = "/api/v1/tokenize"
DETOKENIZE_PATH = "/api/v1/detokenize"
COUNT_PATH = "/api/extra/tokencount"
# More than any body of a request holds.
_MOST_TOKENS = 1 << 24
_SHORT = 1000
# Tokens whose texts are made in a few milliseconds.
_SLICE = 1024
# Bytes of a text that is only counted or tokenized, for each position of the context and at least.
_TEXT_FACTOR, _LEAST_TEXT = 16, 256 << 10
# Of answers that one principal may have in the making or on their way.
ANSWER_BYTES = 16 << 20


class KoboldTexts:
    """Answers at once, also beside running generations."""

    def __init__(self, compat: Compat, posted: Posted) -> None:
        self._posted = posted
        self._texts = compat.texts
        self._tokenizer = compat.generator.ends.tokenizer
        info = compat.generator.info
        self._vocab_size = info.vocab_size
        self._longest = max(_LEAST_TEXT, _TEXT_FACTOR * info.max_context)
        self._answers = Quota(ANSWER_BYTES, "bytes of answers")

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

    async def tokenize(self, principal: str, values: dict[str, Any], held: ExitStack) -> bytes:
        """Tokens whose texts, joined, are what the ids decode to.

        Raises KoboldError, TextTooCostly, Overloaded.
        """
        fields = Fields(values)
        text, special = self._text(fields, "text"), bool(fields.flag("add_special_tokens"))
        answer = _Tokens(RunningTexts(self._tokenizer))
        share = held.enter_context(self._answers.hold(principal, 0))
        async for ids in self._pieces(principal, text, special):
            if len(text) <= _SHORT:
                answer.add(ids)
                continue
            for begun in range(0, len(ids), _SLICE):
                part = ids[begun : begun + _SLICE]
                await self._texts.beside(principal, partial(answer.add, part))
                _count_in(share, answer.size)
        return answer.document()

    async def detokenize(self, principal: str, values: dict[str, Any], held: ExitStack) -> bytes:
        """The text of ids, special tokens included.

        Raises KoboldError, TextTooCostly, Overloaded.
        """
        fields = Fields(values)
        if fields.name("token_ids") is None:
            raise InvalidRequest("'token_ids' is missing")
        ids = fields.tokens(self._vocab_size, _MOST_TOKENS, "token_ids")
        if len(ids) <= _SHORT:
            return dumped({"text": self._tokenizer.decode(list(ids), False)})
        text = await self._texts.decode(principal, ids, skip_special=False)
        share = held.enter_context(self._answers.hold(principal, 0))
        # JSON writes one character as at most twelve bytes.
        _count_in(share, len(text) if text.isascii() else 12 * len(text))
        return await self._texts.beside(principal, lambda: dumped({"text": text}))

    async def count(self, principal: str, values: dict[str, Any], held: ExitStack) -> bytes:
        """The number of tokens that a prompt has. Raises KoboldError, TextTooCostly, Overloaded."""
        fields = Fields(values)
        text, special = self._text(fields, "prompt"), fields.flag("special") is not False
        share = held.enter_context(self._answers.hold(principal, 0))
        listed, count = bytearray(), 0
        async for ids in self._pieces(principal, text, special):
            if ids:
                listed += (b", " if count else b"") + dumped_list(ids)[1:-1]
                count += len(ids)
                _count_in(share, len(listed))
        return b'{"value": %d, "ids": [%b]}' % (count, bytes(listed))

    async def _pieces(self, principal: str, text: str, special: bool) -> AsyncIterator[list[int]]:
        """Short work takes less than the way to a thread and back beside running generations."""
        if len(text) <= _SHORT:
            yield self._tokenizer.encode(text, add_special_tokens=special)
            return
        async for ids in self._texts.pieces(principal, text, special=special):
            yield ids

    def _text(self, fields: Fields, name: str) -> str:
        text = fields.text(MAX_TEXT, name)
        if text is None:
            raise InvalidRequest(f"{name!r} is missing")
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > self._longest:
            raise TextTooLong(size, self._longest)
        return text


def _count_in(share: Share, size: int) -> None:
    """Raises TextTooLong for an answer that never fits, Overloaded for one that does not now."""
    if size > ANSWER_BYTES:
        raise TextTooLong(size, ANSWER_BYTES, "of the answer")
    share.resize(size)


class _Tokens:
    """The answer of ``tokenize``, as JSON from the beginning: values take ten times as much."""

    def __init__(self, texts: RunningTexts) -> None:
        self._texts = texts
        self._tokens, self._ids = bytearray(), bytearray()
        self._count = 0

    @property
    def size(self) -> int:
        """Bytes so far."""
        return len(self._tokens) + len(self._ids)

    def add(self, ids: list[int]) -> None:
        """The tokens that follow."""
        self._append(self._texts.push(ids))

    def document(self) -> bytes:
        """All of it."""
        self._append(self._texts.flush())
        return b'{"tokens": [%b], "token_ids": [%b], "token_count": %d}' % (
            bytes(self._tokens),
            bytes(self._ids),
            self._count,
        )

    def _append(self, pairs: list[tuple[int, str]]) -> None:
        if not pairs:
            return
        separator = b", " if self._count else b""
        tokens = [{"token_id": token, "text": text} for token, text in pairs]
        self._tokens += separator + dumped_list(tokens)[1:-1]
        self._ids += separator + dumped_list([token for token, _ in pairs])[1:-1]
        self._count += len(pairs)
