"""Replies and chats of :class:`AsyncSplitClient`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from split_client.chat.conversation import Conversation, Message
from split_client.chat.reply import Reply, ReplyStats
from split_client.chat.session import ChatSession
from split_client.chat.steering.tokens import ReplyToken
from split_client.errors import ReplyCut
from split_client.generation.loop import Event, FinishReason
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.wanted import Drafts
from split_client.grammar.form import Form
from split_client.model.forgetting import Forgotten
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool
from split_wire.hiding.spans import Spans

_T = TypeVar("_T")


class Maker(Protocol):
    """Where replies are made."""

    def place(self, reply: AsyncReply) -> AbstractAsyncContextManager[Sequence | None]:
        """A place among the replies that are made at a time, with the session of this one."""

    async def work(self, work: Callable[[], _T]) -> _T:
        """What ``work``, which talks to the server, returns."""

    async def following(self, events: Iterator[Event], *, stopped: bool) -> Event | None:
        """The next of ``events``, None at their end; ``stopped``: the reply is to end."""


class AsyncReply:
    """Iterate it with ``async for``; it is made as it is read, and begun when it is first read.

    ``text``, ``token_ids`` and ``stats`` grow with it; ``finish_reason`` is None until its end.
    """

    def __init__(
        self,
        maker: Maker,
        make: Callable[[Sequence | None], Reply],
        after: AsyncReply | None = None,
    ) -> None:
        self._maker, self._make = maker, make
        self._reply: Reply | None = None
        self._stopped = False
        self._after = after
        self._read, self._left = False, asyncio.Event()

    async def events(self) -> AsyncIterator[Event]:
        """The rest of the reply with its tokens and timings."""
        self._read = True
        try:
            if self._after is not None:
                await self._after.left()
                self._after = None
            async with self._maker.place(self) as sequence:
                if self._reply is None:
                    self._reply = await self._maker.work(lambda: self._make(sequence))
                events = self._reply.events()
                while True:
                    event = await self._maker.following(events, stopped=self._stopped)
                    if event is None:
                        return
                    yield event
        finally:
            self._left.set()

    async def left(self) -> None:
        """Until whoever reads it has come to its end, or left it; at once where nobody began."""
        if self._read:
            await self._left.wait()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for event in self.events():
            if event.text:
                yield event.text

    async def read(self) -> str:
        """Make the whole reply and return its text."""
        async for _ in self.events():
            pass
        return self.text

    def stop(self) -> None:
        """End it after its next token."""
        self._stopped = True

    @property
    def text(self) -> str:
        """The text so far; ``await reply.read()`` makes all of it."""
        # A reply that is not begun would be read here, on the thread of the event loop.
        return "" if self._reply is None or not self._reply.begun else self._reply.text

    @property
    def beginning(self) -> str:
        """The text that it goes on from, once it is begun."""
        return "" if self._reply is None else self._reply.beginning

    async def tokens(self) -> tuple[ReplyToken, ...]:
        """All tokens so far, with what is told of them."""
        return await self._maker.work(self._told)

    def _told(self) -> tuple[ReplyToken, ...]:
        tokens = () if self._reply is None else self._reply.tokens
        for token in tokens:
            # Computed here, where nobody else uses the head.
            token.prepare()
        return tokens

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools so far."""
        return () if self._reply is None else self._reply.calls

    async def value(self) -> Any:
        """As :attr:`Reply.value`, once the reply is read, which this does."""
        await self.read()
        if self._reply is None:
            raise ReplyCut("it was stopped before it began; ask again")
        return self._reply.value

    @property
    def token_ids(self) -> list[int]:
        return [] if self._reply is None else self._reply.token_ids

    @property
    def finish_reason(self) -> FinishReason | None:
        return None if self._reply is None else self._reply.finish_reason

    @property
    def stats(self) -> ReplyStats:
        return ReplyStats(0) if self._reply is None else self._reply.stats

    @property
    def adapter(self) -> str | None:
        """The name of the one it is made with, None for the model alone."""
        return None if self._reply is None else self._reply.adapter


class AsyncChatSession:
    """A chat whose later turns send only new tokens; settings as of :class:`ChatSession`.

    ``session`` is that chat, for what is not here; nothing of it that talks to the server may be
    called while a reply is made.
    """

    def __init__(self, maker: Maker, session: ChatSession) -> None:
        self._maker = maker
        self.session = session
        self._newest: AsyncReply | None = None

    def send(self, text: str, documents: Iterable[str] = ()) -> AsyncReply:
        """Say ``text``, and ``documents`` before it as in :meth:`ChatSession.send`; the reply joins
        the chat once it is read to its end, unless it is empty.

        Raises PromptEmpty.
        """
        self.session.say(text, documents)
        return self.answer()

    def queue(self, text: str) -> AsyncReply:
        """The reply to ``text``, which is said once the replies before are read to their end; it
        may be called, and read, while one is made. Raises PromptEmpty when it is first read.
        """
        return self._made(lambda: self.session.send(text), self._newest)

    def answer(self) -> AsyncReply:
        """Reply to the last message of the user, again if need be."""
        return self._made(self.session.answer)

    def go_on(self) -> AsyncReply:
        """As :meth:`ChatSession.go_on`; what that raises comes when the reply is first read."""
        return self._made(self.session.go_on)

    def branch(self, at: int, token: int | str) -> AsyncReply:
        """As :meth:`ChatSession.branch`; what that raises comes when the reply is first read."""
        return self._made(lambda: self.session.branch(at, token))

    def _made(self, make: Callable[[], Reply], after: AsyncReply | None = None) -> AsyncReply:
        self._newest = AsyncReply(self._maker, lambda _: make(), after)
        return self._newest

    async def forget(self, *, texts: bool = True) -> Forgotten:
        """As :meth:`ChatSession.forget`."""
        return await self._maker.work(lambda: self.session.forget(texts=texts))

    async def hide(self, spans: Spans) -> int:
        """As :meth:`Hiding.hide` of ``session.visible``."""
        return await self._maker.work(lambda: self.session.visible.hide(spans))

    async def show(self, spans: Spans | None = None) -> int:
        """As :meth:`Hiding.show` of ``session.visible``."""
        return await self._maker.work(lambda: self.session.visible.show(spans))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat so far."""
        return self.session.messages

    @property
    def conversation(self) -> Conversation:
        """Undo, system message and the like."""
        return self.session.conversation

    @property
    def params(self) -> SamplingParams | None:
        return self.session.params

    @params.setter
    def params(self, params: SamplingParams | None) -> None:
        self.session.params = params

    @property
    def max_tokens(self) -> int:
        return self.session.max_tokens

    @max_tokens.setter
    def max_tokens(self, tokens: int) -> None:
        self.session.max_tokens = tokens

    @property
    def stop(self) -> tuple[str, ...]:
        return self.session.stop

    @stop.setter
    def stop(self, stop: str | Iterable[str]) -> None:
        self.session.stop = stop

    @property
    def drafts(self) -> Drafts:
        return self.session.drafts

    @drafts.setter
    def drafts(self, drafts: Drafts) -> None:
        self.session.drafts = drafts

    @property
    def expected(self) -> str | None:
        return self.session.expected

    @expected.setter
    def expected(self, text: str | None) -> None:
        self.session.expected = text

    @property
    def form(self) -> Form | None:
        return self.session.form

    @form.setter
    def form(self, form: Any) -> None:
        self.session.form = form

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.session.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool | Callable[..., object]]) -> None:
        self.session.tools = tools

    @property
    def tool_choice(self) -> str:
        return self.session.tool_choice

    @tool_choice.setter
    def tool_choice(self, choice: str) -> None:
        self.session.tool_choice = choice

    @property
    def adapter(self) -> str | None:
        return self.session.adapter

    @adapter.setter
    def adapter(self, name: str | None) -> None:
        self.session.adapter = name
