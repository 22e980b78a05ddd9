"""A server of one process without sockets: real session states, and a cache of rows as bytes.

Its model answers with a row that depends on every cached byte, so that a device can tell from the
answer alone whether the server holds what it believes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest, AttentionRows
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import InternalError, ModelChanged, Overloaded, SplitError, UnknownSession
from split_wire.messages import (
    Close,
    Closed,
    Failure,
    Message,
    Open,
    Opened,
    Pong,
    Restore,
    Restored,
    Result,
    Step,
)
from split_wire.probe import Probe
from split_wire.session import Replay, Run, SessionState, fingerprint
from split_wire.tensor import Tensor, WireDtype

WIDTH, MAX_ROWS, MAX_CONTEXT, LIMIT = 4, 3, 12, 1 << 16
# All rows of a full cache are longer than an answer without attention may be.
LAYERS, HEADS = 64, 32


def stored_rows(tensor: Tensor) -> list[bytes]:
    """The raw bytes of each row."""
    return [row.tobytes() for row in tensor.array()]


def answer_of(cache: list[bytes]) -> NDArray[np.float32]:
    """What the model answers when it holds ``cache``: [1, WIDTH]."""
    digest = blake2b(b"|".join(cache), digest_size=WIDTH).digest()
    return np.frombuffer(digest, np.uint8).astype(np.float32)[None]


def attention_of(cache: list[bytes], request: AttentionRequest) -> AttentionRows:
    """What its last position attends to: rows that depend on every cached byte."""
    seed = int.from_bytes(blake2b(b"|".join(cache), digest_size=8).digest(), "big")
    scores = np.random.default_rng(seed).normal(size=(LAYERS, HEADS, len(cache)))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    weights = weights[list(request.layers)] if request.layers else weights
    if request.heads != "all":
        weights = getattr(weights, request.heads)(axis=1, keepdims=True)
    if request.reduce != "none":
        weights = getattr(weights, request.reduce)(axis=(0, 1), keepdims=True)
    rounded = weights.astype(np.float16 if request.dtype == "f16" else np.float32)
    if not request.top_k:
        return AttentionRows.of(rounded)
    order = np.argsort(-rounded, axis=-1, kind="stable")[..., : request.top_k]
    return AttentionRows.of(np.take_along_axis(rounded, order, -1), order.astype(np.int32))


@dataclass
class Held:
    """One session: what it decides, what it really caches, what runs and who waits."""

    state: SessionState
    rows: list[bytes] = field(default_factory=list)
    running: Run | None = None
    waiting: int = 0


class Peer:
    """``runs`` counts how often each (session, step) was appended; ``attention``, ``counts_rows``,
    ``names_layers`` (of attention): are offered.

    ``kept``: rows of every prefix that was ever cached by its digest, None where nothing is kept.
    """

    def __init__(
        self,
        name: str,
        manifest: str = "m",
        dtype: WireDtype = "f32",
        limits: tuple[int, int] = (MAX_ROWS, MAX_CONTEXT),
    ) -> None:
        self._name, self._manifest, self._dtype, self._limits = name, manifest, dtype, limits
        self._opened = 0
        self.kept: dict[bytes, list[bytes]] | None = None
        self.attention = self.counts_rows = self.names_layers = True
        self.sessions: dict[str, Held] = {}
        self.runs: dict[tuple[str, int], int] = {}

    def receive(self, frame: bytes) -> list[bytes]:
        """The answers that are ready at once."""
        try:
            message = decode_client_message(frame, LIMIT)
        except SplitError as error:
            return [encode_message(Failure.of(error))]
        if isinstance(message, Step):
            return self._on_step(message, frame)
        try:
            return [encode_message(self._answer(message))]
        except SplitError as error:
            return [encode_message(Failure.of(error))]

    def _answer(self, message: Message) -> Message:
        match message:
            case Open(manifest=manifest) if manifest != self._manifest:
                return Failure.of(ModelChanged())
            case Open():
                return self._open(message)
            case Restore(session=session):
                if session not in self.sessions:
                    raise UnknownSession
                held = self.sessions[session]
                held.state.found(message)
                self._take_in(held, message.start, message.probe)
                cached = len(held.rows)
                chain = held.state._chain
                return Restored(
                    session, message.start, message.probe.known, cached, chain.at(cached)
                )
            case Close(session=session, keep=keep):
                self._close(session, keep)
                return Closed(session)
            case _:
                return Pong()

    def _close(self, session: str, keep: bool) -> None:
        held = self.sessions.pop(session, None)
        if keep:
            return
        if held is None:
            raise UnknownSession
        for position in range(1, len(held.rows) + 1):
            (self.kept or {}).pop(held.state._chain.at(position), None)

    def _open(self, message: Open) -> Message:
        self._opened += 1
        session = f"{self._name}{self._opened}"
        state = SessionState(PrefixChain(self._manifest), WIDTH, *self._limits)
        held = self.sessions[session] = Held(state)
        opened = Opened(session, self._manifest, self._dtype, *self._limits)
        if self.attention:
            named = ("attention", "attention_layers") if self.names_layers else ("attention",)
            opened = replace(opened, capabilities=named, layers=LAYERS, heads=HEADS)
        if self.counts_rows:
            opened = replace(opened, capabilities=(*opened.capabilities, "rows"))
        if self.kept is None:
            return opened
        opened = replace(opened, capabilities=(*opened.capabilities, "restore"))
        if message.probe is not None:
            self._take_in(held, 0, message.probe)
        return replace(opened, cached=len(held.rows), prefix=state._chain.at(len(held.rows)))

    def _take_in(self, held: Held, start: int, probe: Probe) -> None:
        """Hold the longest prefix of ``probe`` that is kept, and at least ``start`` positions."""
        known = self.kept or {}
        found = next((at for at, name in probe.longest_first() if at > start and name in known), 0)
        if not found:
            del held.rows[start:]
            held.state._chain.truncate(start)
            return
        held.rows = [*known[probe.at(found) or b""]]
        held.state._chain.replace(0, self._names(held.rows))
        held.state.replaced()

    def _names(self, rows: list[bytes]) -> list[bytes]:
        chain = PrefixChain(self._manifest)
        data = b"".join(rows)
        whole = Tensor(self._dtype, (len(rows), WIDTH), data, b"")
        return chain.following(0, whole)

    def _on_step(self, step: Step, frame: bytes) -> list[bytes]:
        held = self.sessions.get(step.session)
        try:
            if held is None:
                raise UnknownSession
            admitted = held.state.admit(step, fingerprint(frame))
        except SplitError as error:
            return [encode_message(Failure.of(error, step.session, step.step))]
        if isinstance(admitted, Replay):
            return [admitted.reply]
        held.waiting += 1
        if isinstance(admitted, Run):
            held.running = admitted
        return []

    def finish(self, session: str) -> list[bytes]:
        """The model has run: an answer for everybody who waits."""
        held = self.sessions[session]
        run = held.running
        assert run is not None
        step = run.step
        held.rows[step.start :] = stored_rows(step.embeddings)
        key = (session, step.step)
        self.runs[key] = self.runs.get(key, 0) + 1
        ends = range(len(held.rows) - step.returned + 1, len(held.rows) + 1)
        states = [answer_of(held.rows[:end]) for end in ends]
        hidden = Tensor.from_f32(np.concatenate(states), "f32")
        cached = len(held.rows)
        asked = step.attention
        attention = None if asked is None else attention_of(held.rows, asked)
        result = Result(session, step.step, cached, hidden, prefix=run.prefix, attention=attention)
        reply = encode_message(result)
        held.state.complete(run, reply)
        if self.kept is not None:
            for at, name in enumerate(self._names(held.rows), 1):
                self.kept[name] = held.rows[:at]
        return self._release(held, reply)

    def fail(self, session: str, *, truncated: bool) -> list[bytes]:
        """The model did not run; ``truncated``: the positions after ``start`` are gone already."""
        held = self.sessions[session]
        run = held.running
        assert run is not None
        if truncated:
            del held.rows[run.step.start :]
        held.state.fail(run, len(held.rows))
        error = InternalError("x") if truncated else Overloaded("the queue is full")
        return self._release(held, encode_message(Failure.of(error, session, run.step.step)))

    def _release(self, held: Held, reply: bytes) -> list[bytes]:
        waiting, held.waiting, held.running = held.waiting, 0, None
        return [reply] * waiting

    def running(self) -> list[str]:
        """Sessions with a step under way."""
        return [name for name, held in self.sessions.items() if held.running is not None]
