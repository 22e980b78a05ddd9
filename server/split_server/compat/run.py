"""One generation: the decode loop on a thread of its own, its events in a channel."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, suppress

from split_client.chat.question import question_in
from split_client.errors import Cancelled
from split_client.generation.constraint import Constraint
from split_client.generation.loop import Event, Limits, TokenEvent, decode
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.speculation.drafter import Drafter
from split_client.model.ends import DeviceEnds
from split_server.compat.drafting.figures import DraftFigures
from split_server.compat.events import EventChannel
from split_server.compat.least_tokens import LeastTokens
from split_server.compat.request import GenerationRequest
from split_server.compat.sequences import LocalSequence
from split_wire.errors import Overloaded

_RETRY_SECONDS = 2.0


class GenerationRun:
    """Makes the reply to ``request`` on ``sequence`` until it ends or is cancelled.

    ``buffered``: events that may wait for their reader, which is waited for ``patience`` seconds;
    ``drafter``: guesses what follows, None for no drafts. ``figures``: what became of its tokens;
    ``reply``: these; ``approximate``: positions of the prompt that were there, and approximate.
    """

    def __init__(
        self,
        ends: DeviceEnds,
        sequence: LocalSequence,
        request: GenerationRequest,
        limits: Limits,
        buffered: int,
        patience: float,
        drafter: Drafter | None = None,
    ) -> None:
        self.sequence = sequence
        self.request = request
        self.reply = list[int]()
        self.approximate = 0
        self.prompt_computed = 0
        self.figures = DraftFigures()
        self._drafter = drafter
        self._ends = ends
        self._limits = limits
        self._cancelled = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._channel: EventChannel[Event] = EventChannel(
            self._loop, buffered, self._cancelled, patience
        )

    @property
    def tokens(self) -> int:
        """Of the reply so far."""
        return len(self.reply)

    def start(self, ended: Callable[[], None]) -> None:
        """Begin; ``ended`` is called on the event loop once nothing of it runs any more.

        Raises Overloaded where the system gives no thread; ``ended`` is not called then.
        """
        self.sequence.backend.cancelled = self._cancelled
        self._ask()

        def work() -> None:
            error = self._produce()
            # The loop is closed when the server gave the generation up on its way out.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(ended)
            self._channel.end(error)

        # A daemon, so that a generation cannot keep the process from ending.
        thread = threading.Thread(target=work, name="generation", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise Overloaded("the system gives a generation no thread", _RETRY_SECONDS) from None

    def _ask(self) -> None:
        """Say where in the prompt the question begins, and which parts it has."""
        decode, request, sequence = self._ends.tokenizer.decode, self.request, self.sequence
        sequence.documents.texts = request.texts
        if request.question.strip():
            sequence.edits.question = question_in(decode, request.question)
            asked = request.asked if request.asked.strip() else request.question
            sequence.documents.question = question_in(decode, asked)

    def events(self) -> AsyncIterator[Event]:
        """Every event, and the error that ended them."""
        return self._channel.read()

    def cancel(self) -> None:
        """Nobody waits for the rest: stop after the token at hand, or before its turn comes."""
        self._channel.cancel()

    def _produce(self) -> Exception | None:
        make = self.request.constraint
        try:
            with ExitStack() as stack:
                constraint = None if make is None else stack.enter_context(make())
                self._put(self._events(self._least(constraint)))
        except Cancelled:
            return None
        # Whatever it is belongs to the reader; other generations go on.
        except Exception as error:  # noqa: BLE001
            return error
        return None

    def _least(self, form: Constraint | None) -> Constraint | None:
        request, rows = self.request, self._ends.head.rows.rows
        if not request.min_tokens:
            return form
        return LeastTokens(form, self._limits.eos_token_ids, request.min_tokens, rows)

    def _put(self, events: Iterator[Event]) -> None:
        for event in events:
            if isinstance(event, TokenEvent):
                self.reply.append(event.token)
                self.approximate = max(self.approximate, event.spared.inexact.approximate)
                self.prompt_computed += event.prompt_computed
                self.figures.count(event)
            self._channel.put(event)

    def _events(self, constraint: Constraint | None) -> Iterator[Event]:
        request = self.request
        return decode(
            self.sequence,
            Sampler(self._ends.head, request.params),
            self._ends.tokenizer,
            list(request.prompt),
            self._limits,
            attention=request.attention,
            constraint=constraint,
            logprobs=request.logprobs,
            drafter=self._drafter,
            cancelled=self._cancelled.is_set,
        )
