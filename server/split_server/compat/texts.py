"""Tokenizer and chat template for requests, off the event loop.

Short texts are tokenized in order of arrival. Long ones go in pieces, and principals take turns
with them: whatever one principal sends, another one's next piece waits for one piece of it. What
cannot be cut goes whole to a process with limits, as an allocation that fails within the tokenizer
would end this one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from split_client.errors import PromptTooLong, TemplateTooCostly, TextTooCostly
from split_client.model.ends import DeviceEnds
from split_server.compat.text_process import TextProcess
from split_server.compat.turns import Turns
from split_server.threads import Threads
from split_wire.errors import ShuttingDown

_T = TypeVar("_T")
# Characters, or tokens, that take a few milliseconds.
SHORT = 8192
# Characters of a piece that is still tokenized here where no cut is safe.
_LONGEST_PIECE = 4 * SHORT


class Texts:
    """Several requests may use it at a time; :meth:`close` it when done.

    ``process``: what tokenizes texts that cannot be cut.
    """

    def __init__(self, ends: DeviceEnds, process: TextProcess) -> None:
        self._ends = ends
        self._cuts = ends.tokenizer.cuts
        self._process = process
        # Of their own, so that neither long texts nor slow templates keep short texts waiting.
        self._short = Threads("short-texts", 1)
        self._long = Threads("long-texts", 1)
        self._whole = Threads("whole-texts", 1)
        # The template's process answers one request at a time.
        self._rendering = Threads("templates", 1)
        self._long_turns, self._whole_turns, self._render_turns = Turns(), Turns(), Turns()
        # For requests whose text is in memory several times while it is parsed and tokenized.
        self.large = Turns()
        self._closed = False

    async def encode(
        self, principal: str, text: str, *, special: bool = False, limit: int | None = None
    ) -> list[int]:
        """Ids of ``text``; ``special`` adds what a plain prompt begins with.

        ``limit``: the most ids that are of use. Raises PromptTooLong, TextTooCostly.
        """
        ids: list[int] = []
        async for piece in self.pieces(principal, text, special=special):
            ids += piece
            if limit is not None and len(ids) > limit:
                raise PromptTooLong(len(ids), limit, at_least=True)
        return ids

    async def prompt(
        self, principal: str, text: str, limit: int, *, special: bool = False
    ) -> list[int]:
        """Ids of a prompt for a context of ``limit`` tokens.

        What is too long for any tokens to fit is refused unread. Raises PromptTooLong,
        TextTooCostly.
        """
        longest = None if self._cuts is None else self._cuts.longest
        if longest is not None and len(text) > longest * limit:
            raise PromptTooLong(-(-len(text) // longest), limit, at_least=True)
        return await self.encode(principal, text, special=special, limit=limit)

    async def pieces(
        self, principal: str, text: str, *, special: bool = False
    ) -> AsyncIterator[list[int]]:
        """Ids of ``text``, one piece after the other. Raises TextTooCostly."""
        cuts = self._cuts
        if len(text) <= SHORT:
            yield await self._short.run(lambda: self._encoded(text, special))
        elif cuts is None:
            yield await self._encode_whole(principal, text, special)
        else:
            yield list(cuts.before) if special else []
            async for ids in self._cut(principal, cuts.pieces(text, SHORT)):
                yield ids
            yield list(cuts.after) if special else []

    async def decode(self, principal: str, ids: Sequence[int], *, skip_special: bool = True) -> str:
        """The text of ``ids``. Raises TextTooCostly."""
        if len(ids) <= SHORT:
            return await self._short.run(
                lambda: self._ends.tokenizer.decode(list(ids), skip_special)
            )
        async with self._whole_turns.turn(principal):
            with self._while_open():
                return await self._whole.run(lambda: self._process.decode(list(ids), skip_special))

    async def beside(self, principal: str, work: Callable[[], _T]) -> _T:
        """Return what ``work`` on a piece of a long text does, in turn with other principals'."""
        async with self._long_turns.turn(principal):
            return await self._long.run(work)

    async def render(
        self,
        principal: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        add_generation_prompt: bool = True,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt that the model's chat template makes of ``messages`` and ``tools``, and of
        further ``variables`` of its own.

        Raises TemplateMissing, TemplateFailed, TemplateTooCostly, and ShuttingDown where it is
        closed meanwhile.
        """

        def work() -> str:
            return self._ends.template().render(
                messages,
                tools=tools,
                add_generation_prompt=add_generation_prompt,
                variables=variables,
            )

        async with self._render_turns.turn(principal):
            with self._while_open():
                return await self._rendering.run(work)

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Raises ShuttingDown where a process was ended under its work, which is nobody's fault."""
        try:
            yield
        except (TemplateTooCostly, TextTooCostly):
            if self._closed:
                raise ShuttingDown from None
            raise

    def close(self) -> None:
        """Let its threads and its process end."""
        self._closed = True
        for threads in (self._short, self._long, self._whole, self._rendering):
            threads.close()
        self._process.close()

    async def _cut(self, principal: str, pieces: Iterator[str]) -> AsyncIterator[list[int]]:
        """Ids of each of ``pieces``, which are looked for beside the event loop too."""

        def following() -> list[int] | str | None:
            piece = next(pieces, None)
            if piece is None or len(piece) > _LONGEST_PIECE:
                return piece
            return self._encoded(piece, False)

        while True:
            async with self._long_turns.turn(principal):
                ids = await self._long.run(following)
            if ids is None:
                return
            yield await self._encode_whole(principal, ids, False) if isinstance(ids, str) else ids

    def _encoded(self, text: str, special: bool) -> list[int]:
        return self._ends.tokenizer.encode(text, add_special_tokens=special)

    async def _encode_whole(self, principal: str, text: str, special: bool) -> list[int]:
        async with self._whole_turns.turn(principal):
            with self._while_open():
                return await self._whole.run(lambda: self._process.encode(text, special))
