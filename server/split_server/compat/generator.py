"""Generations beside the engine, for requests that bring their text along.

Each runs the one decode loop on a thread of its own, because the loop waits for its steps; the
engine packs the steps of all of them. Whoever asks here shows the server prompt and reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from split_client.errors import PromptEmpty, PromptTooLong
from split_client.generation.documents.cutting import Cutter
from split_client.generation.loop import Event, Limits
from split_client.generation.sampling.logprobs import TokenLogprobs
from split_client.generation.sampling.params import SamplingParams
from split_client.model.ends import DeviceEnds
from split_server.compat.auditing import ReplyAudits
from split_server.compat.backend import BUFFERED, EngineBackend
from split_server.compat.drafting.beside import Drafting
from split_server.compat.drafting.figures import DraftFigures
from split_server.compat.keeping import USUAL, Keeping
from split_server.compat.places import Places
from split_server.compat.request import GenerationRequest
from split_server.compat.run import GenerationRun
from split_server.compat.scoring.blocks import BlockScores
from split_server.compat.scoring.run import ScoringRun
from split_server.compat.sequences import LocalSequence, SequencePool
from split_server.engine.model.info import ModelInfo
from split_server.sessions.in_process import InProcessSessions
from split_wire.attention import attention_bytes

__all__ = ["GenerationRequest", "Generator", "GeneratorCounters", "GeneratorLimits"]

# Events without attention are small.
_SMALL_EVENTS = 256


@dataclass(frozen=True, slots=True)
class GeneratorLimits:
    """``running`` generations at a time, ``waiting`` for that, ``spare`` places for principals that
    have none, ``kept`` idle sequences, and the seconds for which a reader that falls behind is
    waited for. ``seconds`` that a request may take and ``tokens`` of one reply, 0: no limit.
    ``drafts``: whether what follows is guessed; ``blend``: the share of what an edit keeps behind
    it that is computed anew.
    """

    running: int = 16
    waiting: int = 64
    spare: int = 4
    kept: int = 16
    patience: float = 60.0
    seconds: float = 0.0
    tokens: int = 0
    drafts: bool = True
    blend: float = 0.0


@dataclass(slots=True)
class GeneratorCounters:
    """Of the generations that have ended: how many, tokens of their prompts, those of them that
    were cached, tokens of their replies; and what became of drafts and forms.
    """

    generations: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    reply_tokens: int = 0
    drafts: DraftFigures = field(default_factory=DraftFigures)


class Generator:
    """Generations for all principals. Lives on the event loop."""

    def __init__(
        self, ends: DeviceEnds, sessions: InProcessSessions, limits: GeneratorLimits | None = None
    ) -> None:
        self.ends = ends
        self.sessions = sessions
        self._limits = limits or GeneratorLimits()
        self._pool = SequencePool(self._new_sequence, self._limits.kept)
        self.places = Places(self._limits.running, self._limits.waiting, self._limits.spare)
        self.counters = GeneratorCounters()
        self._scores = BlockScores(ends.head)
        self._cutter = Cutter(ends.tokenizer)
        self._drafting = Drafting(sessions.reuse) if self._limits.drafts else None
        self._audits: ReplyAudits | None = None
        if sessions.approximate is not None:
            self._audits = ReplyAudits(ends.head, sessions.approximate, self._plain_sequence)

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self.sessions.info

    @property
    def idle_sequences(self) -> int:
        """Sequences that are kept for later requests."""
        return len(self._pool)

    @property
    def seconds(self) -> float:
        """That a request may take, 0: no limit."""
        return self._limits.seconds

    def check(self, request: GenerationRequest) -> None:
        """Raise what is wrong with ``request`` before anything runs.

        PromptEmpty, PromptTooLong, TokenIdOutOfRange, InvalidSamplingParameter, AttentionTooLarge.
        """
        info, length = self.info, len(request.prompt)
        if not request.prompt:
            raise PromptEmpty
        if length > info.max_context:
            raise PromptTooLong(length, info.max_context)
        self.ends.head.rows.check_ids(request.prompt)
        self._limits_of(request)
        if request.attention is not None:
            longest = min(length + request.max_tokens, info.max_context)
            attention_bytes(request.attention, info.num_layers, info.num_heads, longest)

    @asynccontextmanager
    async def generate(
        self, principal: str, request: GenerationRequest
    ) -> AsyncIterator[AsyncIterator[Event]]:
        """The events of one generation, once there is a place for it; leaving cancels it.

        Raises what :meth:`check` raises, UnknownCacheGroup and Overloaded; reading the events
        raises SlowReader, CacheFull, TooManySessions, ShuttingDown and the errors of the decode
        loop.
        """
        self.check(request)
        self.sessions.require_share(principal, request.keeping.group)
        await self.places.take(principal)
        run = self._begun(principal, request)
        try:
            yield run.events()
        finally:
            run.cancel()

    async def score(
        self, principal: str, prompt: tuple[int, ...], count: int, keeping: Keeping = USUAL
    ) -> list[TokenLogprobs]:
        """Of every token of ``prompt`` but the first, and of the ``count`` most likely ones in its
        place, once there is a place for it; a reply to the prompt starts at once afterwards.

        Raises as :meth:`generate`, and what reading its events raises.
        """
        self.check(GenerationRequest(prompt, SamplingParams(), 1))
        self.sessions.require_share(principal, keeping.group)
        await self.places.take(principal)

        def ended() -> None:
            self.places.leave(principal)
            self._pool.give_back(principal, sequence, keeping)

        # Of what is cached there are no states any more.
        sequence = self._new_sequence(principal, keeping)
        run = ScoringRun(sequence, prompt, count, self._scores)
        try:
            run.start(ended)
        except BaseException:
            ended()
            raise
        return await run.scores()

    def close(self) -> None:
        """Forget the idle sequences."""
        self._pool.close()
        if self._audits is not None:
            self._audits.close()

    def _begun(self, principal: str, request: GenerationRequest) -> GenerationRun:
        """The run that has the place just taken, which is left if it cannot begin."""
        try:
            sequence = self._pool.take(principal, list(request.prompt), request.keeping)
            try:
                run = self._run(principal, sequence, request)
                run.start(lambda: self._ended(principal, run))
            except BaseException:
                self._pool.give_back(principal, sequence, request.keeping)
                raise
        except BaseException:
            self.places.leave(principal)
            raise
        return run

    def _run(
        self, principal: str, sequence: LocalSequence, request: GenerationRequest
    ) -> GenerationRun:
        buffered = _SMALL_EVENTS if request.attention is None else BUFFERED
        limits, patience = self._limits_of(request), self._limits.patience
        drafter, sequence.apart = None, self._repeats(request)
        if self._drafting is not None and not sequence.apart:
            drafter = self._drafting.drafter(principal, request, sequence.backend)
        return GenerationRun(self.ends, sequence, request, limits, buffered, patience, drafter)

    def _repeats(self, request: GenerationRequest) -> bool:
        """Whether its reply must not depend on how many rows share a step: it has a seed, and
        states have so few bits that a draw may follow from their last ones.
        """
        return request.params.seed is not None and self.info.dtype != "f32"

    def _ended(self, principal: str, run: GenerationRun) -> None:
        self.places.leave(principal)
        self._leave(principal, run)
        counters, prompt = self.counters, len(run.request.prompt)
        counters.generations += 1
        counters.prompt_tokens += prompt
        counters.cached_tokens += max(prompt - run.prompt_computed, 0) if run.tokens else 0
        counters.reply_tokens += run.tokens
        counters.drafts.add(run.figures)

    def _leave(self, principal: str, run: GenerationRun) -> None:
        """Keep the sequence of ``run``, unless an audit finds that what it stands on is wrong."""

        def left(stays: bool) -> None:
            if stays:
                self._pool.give_back(principal, run.sequence, run.request.keeping)
            else:
                run.sequence.close()

        if self._audits is None or not self._audits.begin(principal, run, left):
            left(True)

    def _plain_sequence(self, principal: str) -> LocalSequence:
        return self._new_sequence(principal, Keeping(cache="off"))

    def _limits_of(self, request: GenerationRequest) -> Limits:
        own = frozenset[int]() if request.ignore_eos else self.ends.manifest.eos_token_ids
        most = min(request.max_tokens, self._limits.tokens or request.max_tokens)
        return Limits(own | request.stop_tokens, most, request.stops)

    def _new_sequence(self, principal: str, keeping: Keeping) -> LocalSequence:
        loop = asyncio.get_running_loop()
        backend = EngineBackend(self.sessions, loop, principal, keeping=keeping)
        embedder = self.ends.embedder
        sequence = LocalSequence(backend, lambda ids: embedder.lookup(ids, backend.dtype))
        sequence.edits.blend = sequence.documents.blend = self._limits.blend
        if keeping.cache == "approximate":
            sequence.documents.cutter = self._cutter
        return sequence
