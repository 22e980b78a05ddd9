"""The original protocol of GateLink-Split clients: docs/original-protocol.md."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from split_server.error_reports import report_error
from split_server.http.wire.sockets import TrackedSocket
from split_server.internal_error import internal_error
from split_server.original.experts.apply import Applied, Experts
from split_server.original.experts.encryption import HeTimes
from split_server.original.sessions import Appended, OriginalSessions
from split_server.threads import Threads
from split_wire.errors import SplitError, TokenizeDisabled
from split_wire.original import replies
from split_wire.original.experts import adapter_of
from split_wire.original.requests import (
    MAX_JSON_BYTES,
    MAX_PROBE,
    MAX_TEXT,
    Config,
    Forward,
    Ping,
    Request,
    RequestParser,
    Tokenize,
    text_field,
)
from split_wire.original.strict_json import parse_object

BINARY = "application/octet-stream"
JSON = "application/json"
# The one probe whose text tells the server nothing: every client sends it.
PUBLIC_PROBE = "hello"
# Checking and encoding rows above this size would hold up the event loop for milliseconds.
_LARGE = 256 * 1024
_THREADS = 2


class OriginalProtocol:
    """``encode``: text to token ids, special tokens included; ``embedding_row``: token id to its
    row [H] as a client with 16-bit floats has it; ``experts``: the adapters, closed with this.
    """

    def __init__(
        self,
        sessions: OriginalSessions,
        encode: Callable[[str], Sequence[int]],
        embedding_row: Callable[[int], NDArray[np.float32]],
        *,
        allow_tokenize: bool = False,
        experts: Experts | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._sessions = sessions
        self._encode = encode
        self._embedding_row = embedding_row
        self._allow_tokenize = allow_tokenize
        self._experts = experts or Experts()
        self._clock = clock
        self._threads = Threads("original", _THREADS)
        self._parser = RequestParser(sessions.info.hidden_size)

    @property
    def max_request_bytes(self) -> int:
        """The longest body or message that is read."""
        return max(self._parser.max_text_bytes, self._parser.max_binary_bytes)

    async def http(self, principal: str, content_type: str, body: bytes) -> Response:
        """Answer one request in its own form: JSON, or binary for ``application/octet-stream``.

        Raises errors of ``split_wire.errors``.
        """
        kind = content_type.partition(";")[0].strip().lower()
        private = _private_name()
        try:
            reply = await self._answer(principal, body, kind == BINARY, private)
        finally:
            self._sessions.close(principal, private)
        media_type = BINARY if isinstance(reply, bytes) else JSON
        return Response(reply, media_type=media_type, headers={"Cache-Control": "no-store"})

    async def websocket(self, principal: str, websocket: TrackedSocket) -> None:
        """Accept ``websocket`` and answer its messages in turn until it is closed."""
        await websocket.accept()
        private = _private_name()
        try:
            while (message := await _receive(websocket)) is not None:
                await _send(
                    websocket, await self._answer_or_refuse(principal, websocket, message, private)
                )
        finally:
            self._sessions.close(principal, private)

    def config(self) -> dict[str, Any]:
        """What the server serves."""
        info, experts = self._sessions.info, self._experts
        noise = experts.noise
        return replies.config(
            info.name,
            info.hidden_size,
            info.vocab_size,
            info.num_layers,
            info.eos_token_ids,
            experts.keywords,
            he_active=experts.encrypts,
            dp_sigma=0.0 if noise is None else noise.sigma,
            dp_epsilon=0.0 if noise is None else noise.epsilon,
        )

    def close(self) -> None:
        """End what its adapters and messages run on."""
        self._experts.close()
        self._sessions.close_threads()
        self._threads.close()

    async def tokenize(self, body: bytes) -> dict[str, Any]:
        """Answer ``{"text"}``. Raises TokenizeDisabled, MalformedMessage, FrameTooLarge."""
        self._require_tokenize()
        values = parse_object(body, MAX_JSON_BYTES)
        return replies.token_ids(await self._token_ids(text_field(values, "text", MAX_TEXT)))

    async def verify(self, body: bytes) -> dict[str, Any]:
        """Answer ``{"probe_text"}``, whose first embedding a client compares with its own.

        Raises TokenizeDisabled for a probe that shows the server text, MalformedMessage,
        FrameTooLarge.
        """
        values = {"probe_text": PUBLIC_PROBE} | parse_object(body, MAX_JSON_BYTES)
        probe = text_field(values, "probe_text", MAX_PROBE)
        if probe != PUBLIC_PROBE:
            self._require_tokenize()
        ids = await self._token_ids(probe)
        row = self._embedding_row(ids[0]) if ids else None
        info = self._sessions.info
        return replies.verification(ids, row, info.vocab_size, info.hidden_size)

    def _require_tokenize(self) -> None:
        if not self._allow_tokenize:
            raise TokenizeDisabled

    async def _token_ids(self, text: str) -> list[int]:
        return [int(token) for token in await self._threads.run(lambda: self._encode(text))]

    async def _answer_or_refuse(
        self, principal: str, websocket: TrackedSocket, message: str | bytes, private: str
    ) -> str | bytes:
        try:
            with websocket.holding(len(message)):
                return await self._answer(principal, message, isinstance(message, bytes), private)
        except SplitError as refusal:
            error = refusal
        # The boundary of a message: one that fails must not end the socket it came on.
        except Exception:  # noqa: BLE001
            error = internal_error()
        report_error(error.code)
        return replies.error_message(error)

    async def _answer(
        self, principal: str, data: str | bytes, binary: bool, private: str
    ) -> str | bytes:
        begun = self._clock()
        match request := await self._parse(data, binary):
            case Ping():
                return json.dumps({"type": "pong"})
            case Config():
                return json.dumps({"type": "config"} | self.config())
            case Tokenize():
                self._require_tokenize()
                answer = replies.token_ids(await self._token_ids(request.text))
                return json.dumps({"type": "tokenize"} | answer)
            case Forward():
                return await self._forward(principal, request, private, begun)

    async def _parse(self, data: str | bytes, binary: bool) -> Request:
        parse: Callable[[Any], Request] = self._parser.binary if binary else self._parser.text
        if len(data) < _LARGE:
            return parse(data)
        return await self._threads.run(lambda: parse(data))

    async def _forward(
        self, principal: str, request: Forward, private: str, begun: float
    ) -> str | bytes:
        name = private if request.session is None else request.session
        adapter = adapter_of(request.expert, self._experts.names)
        done, applied = await self._stepped(principal, name, request, adapter)
        noise = None if adapter is None else self._experts.noise
        reply = replies.ForwardReply(
            hidden=applied.hidden,
            incremental=done.incremental,
            cached_before=done.cached_before,
            layers=self._sessions.info.num_layers,
            compute_ms=done.compute_us / 1000,
            total_ms=1000 * (self._clock() - begun),
            adapter=adapter,
            encrypted=None if applied.times is None else _milliseconds(applied.times),
            he_reason=applied.reason,
            dp_sigma=0.0 if noise is None else noise.sigma,
        )
        if done.hidden.nbytes < _LARGE:
            return reply.encode(request.spelling)
        return await self._threads.run(lambda: reply.encode(request.spelling))

    async def _stepped(
        self, principal: str, name: str, request: Forward, adapter: str | None
    ) -> tuple[Appended, Applied]:
        """The step, and its hidden states with the adapter applied.

        The engine applies it, unless that is to be encrypted or noised.
        """
        experts, rows = self._experts, request.embeddings
        reason = experts.refusal(wanted=request.use_he)
        if adapter is None or (reason is not None and experts.noise is None):
            done = await self._sessions.append(principal, name, rows, request.incremental, adapter)
            reason = reason if adapter is not None else _no_adapter(request.expert)
            return done, Applied(done.hidden, None, reason)
        done = await self._sessions.append(principal, name, rows, request.incremental)
        try:
            return done, await experts.apply(adapter, done.hidden, use_he=request.use_he)
        except BaseException:
            self._sessions.lose(principal, name)
            raise


def _no_adapter(expert: str | None) -> str:
    if expert is None:
        return "the request names no adapter"
    return "no adapter of that name is loaded; this is the base model"


def _milliseconds(times: HeTimes) -> replies.Encrypted:
    return replies.Encrypted(1000 * times.encrypt, 1000 * times.compute, 1000 * times.decrypt)


def _private_name() -> str:
    """A session that no client can name: names of clients are printable."""
    return f"\0{secrets.token_hex(16)}"


async def _receive(websocket: TrackedSocket) -> str | bytes | None:
    """The next message, None when the peer has closed."""
    event = await websocket.receive()
    if event["type"] == "websocket.disconnect":
        return None
    text: str | None = event.get("text")
    data: bytes | None = event.get("bytes")
    return text if text is not None else data or b""


async def _send(websocket: TrackedSocket, reply: str | bytes) -> None:
    if isinstance(reply, bytes):
        await websocket.send_bytes(reply)
    else:
        await websocket.send_text(reply)
