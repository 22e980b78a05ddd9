"""``/tokenize``, ``/detokenize``, ``/tokenizer_info`` and ``/props``, as clients of vLLM and of
llama.cpp ask for them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from split_server.compat.openai.prompts.described import props, tokenizer_info
from split_server.compat.openai.prompts.tokenize_request import TokenizeRequest
from split_server.compat.openai.service import OpenAIService
from split_server.compat.parts import Compat
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink

# Contexts that a text which is only counted may be as long as, and the least tokens of that.
_CONTEXTS, _LEAST = 4, 1 << 16
# Ids that are written out in a few milliseconds.
_AT_ONCE = 4096


class Tokens:
    """Answers at once, beside running generations. ``info`` and ``props`` never change."""

    def __init__(self, service: OpenAIService, compat: Compat) -> None:
        self._service = service
        self._longest = max(_LEAST, _CONTEXTS * service.served.max_context)
        self.info = tokenizer_info(compat)
        self.props = props(compat)

    async def tokenize(self, asked: TokenizeRequest, who: Asked, sink: Sink) -> None:
        """Raises what the texts of requests raise."""
        service = self._service
        if asked.text is None:
            ids = list(
                await service.chat_prompt(
                    who.principal, asked.messages, asked.tools, asked.writing, self._longest
                )
            )
        else:
            ids = await service.texts.prompt(
                who.principal, asked.text, self._longest, special=asked.special
            )
        who.knows(len(ids))
        texts = await self._texts(who.principal, ids) if asked.texts or asked.pieces else None
        document: dict[str, Any] = {
            "count": len(ids),
            "max_model_len": service.served.max_context,
            "tokens": ids,
            "token_strs": texts if asked.texts else None,
        }
        if asked.pieces and texts is not None:
            pairs = zip(ids, texts, strict=True)
            document["tokens"] = [{"id": token, "piece": text} for token, text in pairs]
        await sink.json(document)

    async def detokenize(self, asked: tuple[int, ...], who: Asked, sink: Sink) -> None:
        """The text, special tokens included, by the names that both clients know."""
        who.knows(len(asked))
        text = await self._service.texts.decode(who.principal, asked, skip_special=False)
        await sink.json({"prompt": text, "content": text})

    async def _texts(self, principal: str, ids: list[int]) -> list[str]:
        """Of each token, alone."""
        service, told = self._service, list[str]()
        for begun in range(0, len(ids), _AT_ONCE):
            part = ids[begun : begun + _AT_ONCE]
            work = partial(list[str], map(service.token_text, part))
            told += await service.texts.beside(principal, work)
        return told
