"""A loaded model that is called from Python, over the same parts that a server has."""

from __future__ import annotations

import asyncio
import threading
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from split_client.errors import PromptTooLong
from split_client.generation.sampling.params import SamplingParams
from split_server.compat.kept.texts import BUILT_IN
from split_server.compat.kept.verify import Verification
from split_server.compat.parts import Compat
from split_server.compat.request import GenerationRequest
from split_server.local_engine.errors import EndsUnavailable, EngineClosed, PromptInvalid
from split_server.local_engine.loop_thread import LoopThread
from split_server.local_engine.result import Gathered, Result
from split_server.security.principal import LOCAL
from split_server.serving.config import ServerConfig
from split_server.serving.parts import Parts
from split_server.serving.startup import load_parts
from split_server.serving.upkeep import every
from split_settings.resolve import resolve

Prompt: TypeAlias = "str | Sequence[int] | Sequence[Mapping[str, Any]]"
_SWEEP_SECONDS = 10.0
# What asks for places at a time; others of a batch wait here, where nothing bounds them.
_AT_ONCE = 16
_VERIFIED_TOKENS = 8


class Engine:
    """Made by :meth:`load`; its methods block and may be called from several threads."""

    def __init__(self, parts: Parts, compat: Compat) -> None:
        self._parts, self._compat = parts, compat
        self._guard, self._closed = threading.Lock(), False
        self._loop = LoopThread()
        self._loop.result(self._start())

    @classmethod
    def load(cls, model: str | Path | None = None, **options: Any) -> Self:
        """Load a checkpoint folder, GGUF file or hub id (None: the embedded model).

        ``options``: settings of docs/configuration.md that are about the model and what is kept,
        such as ``dtype``, ``device``, ``threads``, ``quantize``, ``kv_reuse``, ``kv_pool_bytes``.
        Raises the errors of ``split_server.errors`` and ``split_settings.errors``,
        EndsUnavailable.
        """
        table = {name: _plain(value) for name, value in options.items()}
        # Nothing here listens, and the texts are the caller's.
        table |= {"web_root": "none", "adapter_host": False, "compat": True}
        if model is not None:
            table["model"] = str(model)
        parts = load_parts(resolve(ServerConfig, Namespace(), {}, table, path="Engine.load"))
        if parts.compat is None:
            raise EndsUnavailable
        return cls(parts, parts.compat)

    def generate(
        self,
        prompt: Prompt,
        max_tokens: int = 200,
        *,
        stop: str | Sequence[str] = (),
        ignore_eos: bool = False,
        **sampling: Any,
    ) -> Result:
        """Continue a text or token ids, or answer messages, which the chat template writes.

        ``sampling``: fields of SamplingParams; greedy without any. Raises PromptInvalid,
        EngineClosed, PromptEmpty, PromptTooLong, InvalidSamplingParameter, TemplateMissing,
        CacheFull and what steps raise.
        """
        return self.generate_batch(
            [prompt], max_tokens, stop=stop, ignore_eos=ignore_eos, **sampling
        )[0]

    def generate_batch(
        self,
        prompts: Iterable[Prompt],
        max_tokens: int = 200,
        *,
        stop: str | Sequence[str] = (),
        ignore_eos: bool = False,
        **sampling: Any,
    ) -> list[Result]:
        """A result for each prompt, made at the same time; the first error ends all of them.

        Raises what :meth:`generate` raises.
        """
        params = SamplingParams(**sampling)
        stops = (stop,) if isinstance(stop, str) else tuple(stop)

        def asked(ids: tuple[int, ...]) -> GenerationRequest:
            return GenerationRequest(ids, params, max_tokens, ignore_eos=ignore_eos, stops=stops)

        async def all_of() -> list[Result]:
            at_once = asyncio.Semaphore(_AT_ONCE)

            async def one(prompt: Prompt) -> Result:
                async with at_once:
                    return await self._result(asked(await self._ids(prompt)))

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(prompt)) for prompt in prompts]
            return [task.result() for task in tasks]

        self._require_open()
        try:
            return self._loop.result(all_of())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def warm(self, prompt: Prompt) -> int:
        """Compute a prompt ahead; a later one that begins with it starts at once. Its tokens.

        Messages are written without the beginning of an answer. Raises as :meth:`generate`.
        """

        async def warmed() -> int:
            ids = await self._ids(prompt, answered=False)
            # The one token that is chosen is never sent: the cheapest that a reply can be.
            await self._result(GenerationRequest(ids, SamplingParams(), 1))
            return len(ids)

        self._require_open()
        return self._loop.result(warmed())

    def verify(self) -> dict[str, Any]:
        """Whether what is kept gives what computing gives, for texts that come along: ``ok``,
        ``problems``, and what was compared. Raises what steps raise.
        """
        self._require_open()
        return self._loop.result(self._verified())

    def close(self) -> None:
        """Answer what is under way, forget what is kept, end threads and processes; once."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
        try:
            self._loop.result(self._stop())
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise EngineClosed

    async def _start(self) -> None:
        self._parts.steps.start()
        generator = self._compat.generator
        self._verification = Verification(generator.ends, generator.sessions)
        warm = self._parts.warm
        keeping = [self._sweep] if warm is None else [self._sweep, warm.keep]
        self._tasks = [asyncio.create_task(every(_SWEEP_SECONDS, work)()) for work in keeping]

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._parts.warm is not None:
            self._parts.warm.close()
        await self._parts.steps.stop()
        self._verification.close()
        self._parts.framed.close()
        self._parts.original.close()
        self._compat.close()

    async def _sweep(self) -> None:
        self._parts.steps.sweep()

    async def _ids(self, prompt: Prompt, *, answered: bool = True) -> tuple[int, ...]:
        texts, limit = self._compat.texts, self._compat.generator.info.max_context
        if isinstance(prompt, str):
            return tuple(await texts.prompt(LOCAL, prompt, limit, special=True))
        given: list[Any] = list(prompt)
        if _are_ids(given):
            if len(given) > limit:
                raise PromptTooLong(len(given), limit)
            return tuple(given)
        if not _are_messages(given):
            raise PromptInvalid
        text = await texts.render(LOCAL, given, add_generation_prompt=answered)
        return tuple(await texts.prompt(LOCAL, text, limit))

    async def _result(self, request: GenerationRequest) -> Result:
        gathered = Gathered(len(request.prompt), time.perf_counter())
        async with self._compat.generator.generate(LOCAL, request) as events:
            async for event in events:
                gathered.add(event, time.perf_counter())
        return gathered.result(time.perf_counter())

    async def _verified(self) -> dict[str, Any]:
        longest = self._compat.generator.info.max_context - _VERIFIED_TOKENS - 1
        texts = self._compat.texts
        # Of a short context as much as fits.
        prompts = [(await texts.encode(LOCAL, text, special=True))[:longest] for text in BUILT_IN]
        return await self._verification.run(LOCAL, prompts, _VERIFIED_TOKENS)


def _plain(value: Any) -> Any:
    """``value`` as a file of settings has it."""
    return str(value) if isinstance(value, Path) else value


def _are_ids(given: list[Any]) -> bool:
    return all(isinstance(one, int) and not isinstance(one, bool) for one in given)


def _are_messages(given: list[Any]) -> bool:
    return all(isinstance(one, Mapping) and {"role", "content"} <= one.keys() for one in given)
