"""The client for programs with an event loop::

    async with AsyncSplitClient("http://127.0.0.1:8095") as client:
        async for piece in client.chat("What is split inference?"):
            print(piece, end="", flush=True)

One thread of its own does the work, so the loop is never held up. Several replies may be made at a
time: their tokens take turns on that thread, each over a session of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar, Unpack
from weakref import WeakSet

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.masks import MaskStats
from split_client.api.asked import Asked, Messages, SamplingWords, messages_of
from split_client.api.client import SplitClient
from split_client.api.replies import AsyncChatSession, AsyncReply
from split_client.api.stats import ClientStats
from split_client.api.tool_run import ToolRun
from split_client.api.worker import Worker
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.chat.reply_maker import DEFAULT_MAX_TOKENS
from split_client.chat.verifying import Verify
from split_client.generation.head.head import HeadKind
from split_client.generation.loop import Event
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.wanted import DraftMemory, Drafts
from split_client.model.ends import DeviceEnds
from split_client.model.forgetting import Forgotten
from split_client.noise.settings import NoiseSettings
from split_client.redaction.settings import RedactionSettings
from split_client.tools.tool import Tool
from split_client.transport.channel import Mode, Patience, Reconnecting
from split_client.transport.endpoint import DEFAULT_URL, Endpoint
from split_client.transport.served.listing import ServedModel
from split_client.transport.server_cache import Purged, ServerCache
from split_client.weights.manifest import Manifest
from split_client.weights.pull import Progress
from split_wire.attention import AttentionRequest
from split_wire.tiers import Cache

_T = TypeVar("_T")

# Below the sessions that a server lets one principal have.
MOST_AT_A_TIME = 16


class ClientOptions(TypedDict, total=False):
    """Options of :class:`SplitClient`; its callbacks are called on the client's thread."""

    model: str | None
    token: str | None
    cache: Path | None
    transport: Mode
    lm_head: HeadKind
    patience: Patience | None
    adapter: str | None
    adapter_host: str | None
    adapter_token: str | None
    masks: int
    noise: NoiseSettings | None
    server_cache: Cache
    cache_group: str | None
    share_until: int
    blend: float
    verify: Verify
    verify_share: float
    drafts: Drafts
    draft_memory: DraftMemory
    redact: RedactionSettings | bool
    on_manifest: Callable[[Manifest, bool], None]
    on_progress: Callable[[Progress], None]
    on_prepare: Callable[[], None]
    on_calibrate: Callable[[], None]
    on_notice: Callable[[Reconnecting], None]


class AsyncSplitClient:
    """:class:`SplitClient` for one event loop: what waits is awaited, replies are ``async for``.

    At most 16 replies are made at a time, others wait for a place. A task that is cancelled gives
    its reply up; a wait for the server ends with it.
    """

    def __init__(self, url: str = DEFAULT_URL, **options: Unpack[ClientOptions]) -> None:
        self._client = SplitClient(url, **options)
        self._worker = Worker(self._client.resume, self._client.cancel)
        self._places = asyncio.Semaphore(MOST_AT_A_TIME)
        self._idle: list[Sequence] = []
        self._active: WeakSet[AsyncReply] = WeakSet()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """As :meth:`SplitClient.connect`."""
        await self._worker.run(self._client.connect)

    async def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        self._idle = []
        await self._worker.run(self._client.close)
        self._worker.close()

    def chat(
        self,
        messages: Messages,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        attention: AttentionRequest | None = None,
        expected: str | None = None,
        form: Any = None,
        **words: Unpack[SamplingWords],
    ) -> AsyncReply:
        """As :meth:`SplitClient.chat`."""
        said = messages_of(messages)
        return self._reply(
            Asked.of(said, params, words, max_tokens, stop, attention, expected, form)
        )

    def generate(
        self,
        prompt: str,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        attention: AttentionRequest | None = None,
        expected: str | None = None,
        form: Any = None,
        **words: Unpack[SamplingWords],
    ) -> AsyncReply:
        """As :meth:`SplitClient.generate`."""
        return self._reply(
            Asked.of(prompt, params, words, max_tokens, stop, attention, expected, form)
        )

    async def conversation(
        self,
        system: str | None = None,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        form: Any = None,
        redact: RedactionSettings | bool | None = None,
        **words: Unpack[SamplingWords],
    ) -> AsyncChatSession:
        """As :meth:`SplitClient.conversation`."""
        session = await self._worker.run(
            lambda: self._client.conversation(
                system, params, max_tokens=max_tokens, stop=stop, form=form, redact=redact, **words
            )
        )
        return AsyncChatSession(self, session)

    async def run(
        self,
        messages: Messages,
        tools: Iterable[Tool | Callable[..., object]],
        **options: Any,
    ) -> ToolRun:
        """As :meth:`SplitClient.run`; the tools run on the client's thread, where other replies
        wait for them.
        """
        return await self._worker.run(lambda: self._client.run(messages, tools, **options))

    def cancel(self) -> None:
        """End the replies that are being made after their next token, and any wait for the server.

        For the thread of the event loop.
        """
        for reply in list(self._active):
            reply.stop()
        self._worker.interrupt()

    async def forget(self, messages: Messages) -> Forgotten:
        """As :meth:`SplitClient.forget`."""
        return await self._worker.run(lambda: self._client.forget(messages))

    async def forget_all(self) -> Purged | None:
        """As :meth:`SplitClient.forget_all`."""
        return await self._worker.run(self._client.forget_all)

    async def route_anew(self) -> None:
        """As :meth:`SplitClient.route_anew`."""
        await self._worker.run(self._client.route_anew)

    async def served_models(self) -> tuple[ServedModel, ...] | None:
        """As :meth:`SplitClient.served_models`."""
        return await self._worker.run(self._client.served_models)

    async def server_keeps(self) -> ServerCache | None:
        """As :meth:`SplitClient.server_keeps`."""
        return await self._worker.run(self._client.server_keeps)

    async def forget_drafts(self) -> None:
        """As :meth:`SplitClient.forget_drafts`."""
        await self._worker.run(self._client.forget_drafts)

    async def adapters(self) -> tuple[AdapterInfo, ...]:
        """As :attr:`SplitClient.adapters`."""
        return await self._worker.run(lambda: self._client.adapters)

    async def privacy_lines(self, chat: AsyncChatSession | None = None) -> list[str]:
        """As :meth:`SplitClient.privacy_lines`."""
        session = None if chat is None else chat.session
        return await self._worker.run(lambda: self._client.privacy_lines(session))

    @property
    def ends(self) -> DeviceEnds:
        """The opened ends, once :meth:`connect` was awaited."""
        return self._client.ends

    async def most_drafts(self) -> int:
        """As :attr:`SplitClient.most_drafts`."""
        return await self._worker.run(lambda: self._client.most_drafts)

    @property
    def redaction(self) -> ChatRedaction:
        """As :attr:`SplitClient.redaction`, once :meth:`connect` was awaited."""
        return self._client.redaction

    @property
    def drafts(self) -> Drafts:
        """How many tokens a step of replies guesses."""
        return self._client.drafts

    @property
    def server_cache(self) -> Cache:
        """Whether the server may keep what it computed of a chat for later sessions."""
        return self._client.server_cache

    @property
    def endpoint(self) -> Endpoint:
        """The server's address."""
        return self._client.endpoint

    @property
    def model(self) -> str | None:
        """As :attr:`SplitClient.model`."""
        return self._client.model

    @property
    def manifest(self) -> Manifest:
        """The manifest of the served model, once :meth:`connect` was awaited."""
        return self._client.manifest

    @property
    def default_params(self) -> SamplingParams:
        """The sampling that the model's makers recommend, once :meth:`connect` was awaited."""
        return self._client.default_params

    @property
    def replica(self) -> str | None:
        """As :attr:`SplitClient.replica`."""
        return self._client.replica

    @property
    def streamed(self) -> int:
        """As :attr:`SplitClient.streamed`."""
        return self._client.streamed

    @property
    def masks(self) -> MaskStats | None:
        """As :attr:`SplitClient.masks`."""
        return self._client.masks

    @property
    def stats(self) -> ClientStats:
        """Traffic so far, once :meth:`connect` was awaited."""
        return self._client.stats

    @asynccontextmanager
    async def place(self, reply: AsyncReply) -> AsyncIterator[Sequence]:
        """Implements :class:`split_client.api.replies.Maker`."""
        async with self._places:
            idle = self._idle
            sequence = idle.pop() if idle else await self._worker.run(self._client.sequence)
            self._active.add(reply)
            try:
                yield sequence
            finally:
                self._active.discard(reply)
                # Sessions of a connection that was closed meanwhile are gone with its list.
                idle.append(sequence)

    async def work(self, work: Callable[[], _T]) -> _T:
        """Implements :class:`split_client.api.replies.Maker`."""
        return await self._worker.run(work)

    async def following(self, events: Iterator[Event], *, stopped: bool) -> Event | None:
        """Implements :class:`split_client.api.replies.Maker`."""

        def step() -> Event | None:
            if stopped:
                self._client.cancel()
            return next(events, None)

        return await self._worker.run(step)

    def _reply(self, asked: Asked) -> AsyncReply:
        return AsyncReply(self, lambda sequence: self._client.begin(asked, sequence))
