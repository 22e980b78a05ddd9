"""Tokenizer and chat template for requests, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from split_client.model.ends import DeviceEnds

_T = TypeVar("_T")
# Characters up to which a text is tokenized in a few milliseconds.
_SHORT = 16_384


class Texts:
    """Several requests may use it at a time; :meth:`close` it when done."""

    def __init__(self, ends: DeviceEnds) -> None:
        self._ends = ends
        # Of their own, so that neither long texts nor slow templates keep short texts waiting.
        self._short = ThreadPoolExecutor(1, "short-texts")
        self._long = ThreadPoolExecutor(1, "long-texts")
        # The template's process answers one request at a time.
        self._rendering = ThreadPoolExecutor(1, "templates")

    async def encode(self, text: str, special: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` adds what a plain prompt begins with."""
        return await _on(
            self._short if len(text) <= _SHORT else self._long,
            lambda: self._ends.tokenizer.encode(text, add_special_tokens=special),
        )

    async def decode(self, ids: Sequence[int], skip_special: bool = True) -> str:
        """The text of ``ids``."""
        return await _on(
            self._short if len(ids) <= _SHORT else self._long,
            lambda: self._ends.tokenizer.decode(list(ids), skip_special),
        )

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
            return self._ends.template().render(
                messages, tools=tools, add_generation_prompt=add_generation_prompt
            )

        return await _on(self._rendering, work)

    def close(self) -> None:
        """Let its threads end."""
        for threads in (self._short, self._long, self._rendering):
            threads.shutdown(wait=False, cancel_futures=True)


async def _on(threads: ThreadPoolExecutor, work: Callable[[], _T]) -> _T:
    return await asyncio.get_running_loop().run_in_executor(threads, work)
