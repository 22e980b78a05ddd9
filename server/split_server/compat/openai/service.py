"""The service behind OpenAI's routes: the model's name, prompts, readers of replies."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from split_client.errors import PromptTooLong
from split_client.grammar.errors import GrammarInvalid
from split_client.tools.reading import CallReader
from split_server.compat.grammars.grammars import MakeConstraint
from split_server.compat.keeping import Keeping
from split_server.compat.openai.answer_head import AnswerHead
from split_server.compat.openai.errors import FormRefused, InvalidParameter
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import Options
from split_server.compat.openai.prompts.texts import PromptText
from split_server.compat.openai.prompts.writing import (
    UNANSWERED,
    USUAL_WRITING,
    Writing,
    cut_at,
    open_ended,
)
from split_server.compat.openai.replies import ReplyReader
from split_server.compat.openai.response_format import AskedForm
from split_server.compat.openai.token_texts import TokenTexts
from split_server.compat.openai.tools import Tools
from split_server.compat.openai.warm_request import WarmRequest
from split_server.compat.parts import Compat

# Any letter will do: what is decoded behind it is not the beginning of a text.
_ANCHOR = "a"


class OpenAIService:
    """``clock``: Unix time in seconds."""

    def __init__(self, compat: Compat, clock: Callable[[], float] = time.time) -> None:
        self.generator = compat.generator
        self.texts = compat.texts
        self.kernels = compat.kernels
        self._clock = clock
        ends = self.generator.ends
        self._ends = ends.manifest.eos_token_ids
        self._grammars = compat.grammars
        self._token_texts = TokenTexts(ends.tokenizer, ends.tokenizer.encode(_ANCHOR))
        self.token_text = self._token_texts.text
        self.scored_prompt = self._token_texts.of_prompt
        self.served = ServedModel(
            compat.name or ends.manifest.name,
            int(clock()),
            f"fp_{ends.manifest.digest[:12]}",
            ends.manifest.vocab_size,
            self.generator.info.max_context,
            ends.defaults,
            self.generator.info.hidden_size,
        )

    def head(self, kind: str) -> AnswerHead:
        """The beginning of a new answer."""
        return AnswerHead(new_id(f"{kind}-"), int(self._clock()), self.served)

    def reader(
        self, calls: CallReader, scored: bool, options: Options, *, ended: bool = False
    ) -> ReplyReader:
        """For one reply; ``scored``: with its tokens, ``ended``: and the one that ends it."""
        if ended:
            return ReplyReader(calls, frozenset(), self._token_texts.scorer())
        scorer = self._token_texts.scorer() if scored else None
        own = frozenset[int]() if options.ignore_eos else self._ends
        return ReplyReader(calls, own | options.stop_tokens, scorer)

    async def chat_prompt(
        self,
        principal: str,
        messages: Sequence[dict[str, Any]],
        tools: Tools | None,
        writing: Writing = USUAL_WRITING,
        longest: int | None = None,
    ) -> tuple[int, ...]:
        """Ids of a chat as its template writes it, at most ``longest``, None: the context.

        Raises TemplateMissing, TemplateFailed, TemplateTooCostly, PromptTooLong, TextTooCostly.
        """
        documents = None if tools is None else list(tools.documents)
        mark = ""
        if writing.continued:
            messages, mark = open_ended(messages)
        text = await self.texts.render(
            principal,
            messages,
            documents,
            add_generation_prompt=writing.answered,
            variables=writing.variables,
        )
        text = cut_at(text, mark) if mark else text
        longest = longest or self.served.max_context
        return tuple(await self.texts.prompt(principal, text, longest, special=writing.special))

    async def prediction(self, principal: str, text: str) -> tuple[int, ...]:
        """Ids of a text that a reply is expected to be. Raises InvalidParameter, TextTooCostly."""
        if not text:
            return ()
        try:
            return tuple(await self.texts.prompt(principal, text, self.served.max_context))
        except PromptTooLong:
            longest = f"at most {self.served.max_context} tokens long"
            raise InvalidParameter("prediction.content", longest) from None

    async def parts(
        self, principal: str, texts: Sequence[str], keeping: Keeping
    ) -> tuple[tuple[int, ...], ...]:
        """Ids of parts of messages, which are looked for where what is approximate is taken; none
        elsewhere. Raises PromptTooLong, TextTooCostly.
        """
        if keeping.cache != "approximate":
            return ()
        limit = self.served.max_context
        ids = [await self.texts.prompt(principal, text, limit, special=False) for text in texts]
        return tuple(map(tuple, ids))

    async def plain_prompt(
        self, principal: str, prompt: PromptText, special: bool = True
    ) -> tuple[int, ...]:
        """Ids of a text, with what a text begins with if it is ``special``, or those given.

        Raises PromptTooLong, TextTooCostly.
        """
        limit = self.served.max_context
        if isinstance(prompt, str):
            return tuple(await self.texts.prompt(principal, prompt, limit, special=special))
        if len(prompt) > limit:
            raise PromptTooLong(len(prompt), limit)
        return prompt

    async def warm_prompt(self, principal: str, asked: WarmRequest) -> tuple[int, ...]:
        """Ids of what is to be computed ahead. Raises what the prompts of requests raise."""
        if asked.prompt is None:
            return await self.chat_prompt(principal, asked.messages, asked.tools, UNANSWERED)
        return await self.plain_prompt(principal, asked.prompt)

    async def constraint(self, principal: str, form: AskedForm | None) -> MakeConstraint | None:
        """The maker of the grammar's state for ``form``. Raises FormRefused, Overloaded."""
        if form is None:
            return None
        try:
            return await self._grammars.maker(principal, form.form)
        except GrammarInvalid as error:
            raise FormRefused(error, form.param) from None


def new_id(prefix: str) -> str:
    """A fresh id."""
    return prefix + secrets.token_hex(12)
