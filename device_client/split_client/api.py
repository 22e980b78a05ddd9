"""Split inference from Python::

    from split_client.api import SplitClient

    with SplitClient("http://127.0.0.1:8095") as client:
        for piece in client.chat([{"role": "user", "content": "What is split inference?"}]):
            print(piece, end="", flush=True)

Everything is synchronous and meant for one thread; only :meth:`SplitClient.cancel` may be called
from others and from signal handlers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from weakref import WeakSet

from split_client.adapters.choice import AdapterInfo, Adapters
from split_client.adapters.chooser import AdapterChooser
from split_client.adapters.clear import ClearAdapters
from split_client.chat_session import ChatSession
from split_client.conversation import Conversation, Message
from split_client.ends import DeviceEnds, derives
from split_client.errors import Cancelled, MessageInvalid
from split_client.generation.head import HeadKind
from split_client.generation.sampling_params import SamplingParams
from split_client.generation.sequence import Sequence as TokenSequence
from split_client.noise.backend import OneDtypeBackend
from split_client.noise.calibration import Table
from split_client.noise.conversation import NoisedConversation, bound, never_plain
from split_client.noise.mode import NoiseMode
from split_client.noise.rules import require_blind_adapter, without_penalty
from split_client.noise.settings import NoiseSettings
from split_client.reply import Reply
from split_client.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_client.transport.base import Traffic
from split_client.transport.channel import Channel, Mode, Patience, Reconnecting
from split_client.transport.connect import connector
from split_client.transport.endpoint import DEFAULT_URL, Endpoint
from split_client.transport.remote import BUSY_PATIENCE, RemoteBackend
from split_client.weights.download import WeightsSource
from split_client.weights.locks import Lock
from split_client.weights.manifest import Manifest
from split_client.weights.pull import Progress, fetch_manifest, pull
from split_client.weights.store import ModelStore, StoredModel
from split_wire.attention import AttentionRequest, AttentionWeights
from split_wire.limits import frame_limit

__all__ = [
    "AdapterInfo",
    "AttentionRequest",
    "AttentionWeights",
    "ChatSession",
    "ClientStats",
    "Message",
    "NoiseSettings",
    "Reply",
    "SamplingParams",
    "SplitClient",
]


@dataclass(frozen=True, slots=True)
class ClientStats:
    """Since the client connected: bytes of frames, round trips, what carries them, repairs."""

    bytes_up: int
    bytes_down: int
    exchanges: int
    transport: str | None
    reconnects: int


class SplitClient:
    """A model whose ends are here and whose middle is at ``url``.

    ``cache``: folder for weights. ``lm_head``: "exact" (an int8 screen), "compact" (a
    4-bit shortlist, for small devices; its top is not proven) or "full" (every row each time).
    ``on_manifest`` sees what the server offers and whether it is here already, before anything is
    pulled, and may raise to refuse; ``on_progress`` follows a pull, ``on_prepare`` comes before the
    LM head's file is derived, which happens once per model and takes seconds for a large one,
    ``on_notice`` tells of lost connections.

    ``adapter``: a name, "auto" (by the words of the newest message, chosen here) or None. The
    server applies it in the clear and sees its name, unless ``adapter_host`` is the URL of a host
    that evaluates it on ciphertexts, with the token ``adapter_token``.

    ``noise``: rows are sent with noise, counted and bounded as the settings say; None: as they are.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        cache: Path | None = None,
        transport: Mode = "auto",
        lm_head: HeadKind = "exact",
        patience: Patience | None = None,
        adapter: str | None = None,
        adapter_host: str | None = None,
        adapter_token: str | None = None,
        noise: NoiseSettings | None = None,
        on_manifest: Callable[[Manifest, bool], None] = lambda _manifest, _stored: None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_prepare: Callable[[], None] = lambda: None,
        on_notice: Callable[[Reconnecting], None] = lambda _: None,
    ) -> None:
        self._endpoint = Endpoint.parse(url)
        self._token = token
        self._store = ModelStore(cache)
        self._mode: Mode = transport
        self._lm_head: HeadKind = lm_head
        self._patience = patience or Patience()
        self._adapter = adapter
        self._adapter_host, self._adapter_token = adapter_host, adapter_token
        self._chooser = AdapterChooser(self._load_adapters)
        self._noise_settings = noise
        self._noise: NoiseMode | None = None
        self._last_noised: NoisedConversation | None = None
        self._on_manifest, self._on_progress = on_manifest, on_progress
        self._on_prepare, self._on_notice = on_prepare, on_notice
        self._cancel = threading.Event()
        self._ends: DeviceEnds | None = None
        self._lock: Lock | None = None
        self._channel: Channel | None = None
        # A chat that nobody holds any more leaves its session to the server's idle limit.
        self._sequences: WeakSet[TokenSequence] = WeakSet()
        self._shared: TokenSequence | None = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> None:
        """Find out which model is served, pull its ends if they are not here, open them.

        Raises the errors of ``split_client.errors``, ``split_client.generation.errors`` and, for an
        adapter that is not there, ``split_client.adapters.errors``, and with noise those of
        ``split_client.noise.errors``.
        """
        if self._ends is not None:
            return
        if self._noise_settings is not None:
            require_blind_adapter(self._adapter)
        stored = self._stored_model()
        self._lock = self._store.use(stored.manifest.digest)
        try:
            if derives(stored, self._lm_head):
                self._on_prepare()
            self._ends = DeviceEnds.open(stored, lm_head=self._lm_head)
            if self._noise_settings is not None:
                self._ends = self._with_noise(self._ends, stored, self._noise_settings)
            if self._ends.chat_template is not None:
                self._ends.chat_template.start()
            self._channel = self._new_channel(stored.manifest)
            # A name that nobody knows is told now, not after the first message.
            self._chooser.choice(self._adapter, "")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        for sequence in self._sequences:
            sequence.close()
        self._sequences, self._shared = WeakSet(), None
        self._chooser.close()
        if self._channel is not None:
            self._channel.close()
        if self._ends is not None:
            self._ends.close()
        if self._lock is not None:
            self._lock.release()
        if self._noise is not None:
            self._noise.close()
        self._channel, self._ends, self._lock, self._noise = None, None, None, None
        self._last_noised = None

    def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: Sequence[str] = (),
        attention: AttentionRequest | None = None,
    ) -> Reply:
        """The answer to ``messages`` (maps of role and content), the last of them the user's.

        With ``attention`` the events of its tokens (:meth:`Reply.events`) bring what each token
        attends to; a server without that capability refuses with ``unsupported``.
        """
        conversation = self._new_conversation(None)
        conversation.replace(_message(index, m) for index, m in enumerate(messages))
        ids = conversation.prompt().ids
        text = conversation.messages[-1].content
        return self._reply(ids, text, params, max_tokens, tuple(stop), attention)

    def generate(
        self,
        prompt: str,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: Sequence[str] = (),
        attention: AttentionRequest | None = None,
    ) -> Reply:
        """The continuation of ``prompt`` as plain text, without a chat template.

        ``attention`` as in :meth:`chat`.
        """
        ids = self.ends.tokenizer.encode(prompt, add_special_tokens=True)
        return self._reply(ids, prompt, params, max_tokens, tuple(stop), attention)

    def conversation(self, system: str | None = None) -> ChatSession:
        """A chat that keeps its own session on the server; a later turn sends only new tokens."""
        sequence = self._new_sequence()
        chat = ChatSession(
            self._maker(),
            self._new_conversation(system),
            sequence,
            self._chooser,
            self._last_noised,
        )
        chat.adapter = self._adapter
        return chat

    def cancel(self) -> None:
        """End the reply that is being made after its next token, and any wait for the server."""
        self._cancel.set()

    @property
    def ends(self) -> DeviceEnds:
        """The opened ends; connects first."""
        self.connect()
        if self._ends is None:
            raise RuntimeError("the client is not connected")
        return self._ends

    @property
    def endpoint(self) -> Endpoint:
        """Where the server is."""
        return self._endpoint

    @property
    def manifest(self) -> Manifest:
        """What the server serves."""
        return self.ends.manifest

    @property
    def adapters(self) -> tuple[AdapterInfo, ...]:
        """Those that can be named: the adapter host's, or the server's where there is no host.

        Asks for them the first time. Raises AdapterListInvalid and the errors of a connection.
        """
        return self._chooser.available

    @property
    def default_params(self) -> SamplingParams:
        """The sampling that the model's makers recommend."""
        return self.ends.defaults

    def privacy_lines(self, chat: ChatSession | None = None) -> list[str]:
        """What noise promises and has cost so far, of ``chat`` or the newest; none without noise.

        Raises the ledger's errors.
        """
        self.connect()
        if self._noise is None:
            return []
        return self._noise.lines(self._last_noised if chat is None else chat.noise)

    @property
    def stats(self) -> ClientStats:
        """Traffic so far."""
        channel = self._connected_channel()
        traffic: Traffic = channel.traffic
        return ClientStats(
            traffic.sent,
            traffic.received,
            traffic.exchanges,
            channel.transport_name,
            channel.reconnects,
        )

    def _stored_model(self) -> StoredModel:
        source = WeightsSource(self._endpoint, self._token, self._patience.connect)
        try:
            manifest, data = fetch_manifest(source)
            stored = self._store.find(manifest.digest)
            self._on_manifest(manifest, stored is not None)
            if stored is not None:
                return stored
            return pull(
                source, self._store, manifest, data, progress=self._on_progress, pause=self._pause
            )
        finally:
            source.close()

    def _new_channel(self, manifest: Manifest) -> Channel:
        # Answers carry one row; nothing longer is accepted unless attention is asked for.
        connect = connector(self._endpoint, self._token, frame_limit(manifest.hidden_size, 1))
        return Channel(
            connect, self._mode, self._patience, pause=self._pause, notify=self._on_notice
        )

    def _connected_channel(self) -> Channel:
        self.connect()
        if self._channel is None:
            raise RuntimeError("the client is not connected")
        return self._channel

    def _maker(self) -> ReplyMaker:
        traffic, noised = self._connected_channel().traffic, self._noise is not None
        return ReplyMaker(self.ends, traffic, self._cancel, noised=noised)

    def _reply(
        self,
        ids: list[int],
        text: str,
        params: SamplingParams | None,
        max_tokens: int,
        stop: tuple[str, ...],
        attention: AttentionRequest | None,
    ) -> Reply:
        sequence = self._session()
        adapter = self._chooser.choice(self._adapter, text)
        reply = self._maker().reply(sequence, ids, params, max_tokens, stop, attention)
        reply.adapter = adapter
        reply.on_begin = lambda: self._chooser.use(adapter, sequence)
        return reply

    def _load_adapters(self) -> Adapters:
        if self._adapter_host is None:
            return ClearAdapters.at(self._endpoint, self._token, self._patience.connect)
        # Keys and ciphertexts need libraries that a client without a host does not load.
        from split_client.crypto.hosted import HostedAdapters

        return HostedAdapters(
            self._adapter_host,
            self._adapter_token,
            self.manifest,
            patience=self._patience,
            pause=self._pause,
        )

    def _new_conversation(self, system: str | None) -> Conversation:
        return Conversation(self.ends.template(), self.ends.tokenizer, system)

    def _new_sequence(self) -> TokenSequence:
        ends, manifest = self.ends, self.manifest
        kind = RemoteBackend if self._noise is None else OneDtypeBackend
        backend = kind(
            self._connected_channel(),
            manifest.hidden_size,
            manifest.digest,
            manifest.max_context,
            busy_patience=min(BUSY_PATIENCE, self._patience.total),
            pause=self._pause,
        )
        if self._noise is None:
            sequence = TokenSequence(backend, lambda ids: ends.embedder.lookup(ids, backend.dtype))
        else:
            self._last_noised = self._noise.conversation()
            rows = bound(self._last_noised, lambda: backend.dtype)
            sequence = TokenSequence(backend, never_plain, rows)
        self._sequences.add(sequence)
        return sequence

    def _with_noise(
        self, ends: DeviceEnds, stored: StoredModel, settings: NoiseSettings
    ) -> DeviceEnds:
        """The ends as noise lets them be used."""
        table = Table.of(stored, lambda ids: ends.embedder.lookup(ids, "f32"))
        defaults = ends.defaults
        self._noise = NoiseMode.open(settings, table, stored, defaults.repetition_penalty)
        return replace(ends, defaults=without_penalty(defaults))

    def _session(self) -> TokenSequence:
        if self._shared is None:
            self._shared = self._new_sequence()
        return self._shared

    def _pause(self, seconds: float) -> None:
        if self._cancel.wait(seconds):
            raise Cancelled


def _message(index: int, given: Mapping[str, str]) -> Message:
    match given:
        case {"role": str(role), "content": str(content)}:
            return Message(role, content)
    raise MessageInvalid(index)
