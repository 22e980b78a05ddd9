"""Tokenizer and chat template for requests, off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from split_client.ends import DeviceEnds

_T = TypeVar("_T")
# Tokenizing is short work; a long text must not keep others waiting.
_THREADS = 2


class Texts:
    """Several requests may use it at a time; :meth:`close` it when done."""

    def __init__(self, ends: DeviceEnds) -> None:
        self._ends = ends
        self._threads = ThreadPoolExecutor(_THREADS, "texts")
        # The template's process answers one request at a time.
        self._rendering = threading.Lock()

    async def encode(self, text: str, special: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` adds what a plain prompt begins with."""
        return await self._run(
            lambda: self._ends.tokenizer.encode(text, add_special_tokens=special)
        )

    async def decode(self, ids: Sequence[int], skip_special: bool = True) -> str:
        """The text of ``ids``."""
        return await self._run(lambda: self._ends.tokenizer.decode(list(ids), skip_special))

    async def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        add_generation_prompt: bool = True,
    ) -> str:
        """The prompt that the model's chat template makes of ``messages`` and ``tools``.

        Raises TemplateMissing, TemplateFailed, TemplateTooCostly.
        """

        def work() -> str:
            template = self._ends.template()
            with self._rendering:
                return template.render(
                    messages, tools=tools, add_generation_prompt=add_generation_prompt
                )

        return await asyncio.to_thread(work)

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Let its threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
