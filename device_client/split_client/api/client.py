"""The synchronous client: a model whose ends are here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, Unpack

from split_client.adapters.choice import AdapterInfo, Adapters
from split_client.adapters.chooser import AdapterChooser
from split_client.adapters.clear import ClearAdapters
from split_client.api.asked import (
    Asked,
    Messages,
    SamplingWords,
    given_words,
    messages_of,
    sampling_of,
)
from split_client.api.tool_run import ToolRun, tool_run
from split_client.chat.bound import TextBound
from split_client.chat.calling import CallMaker
from split_client.chat.conversation import Conversation, Message
from split_client.chat.drafting import Drafting
from split_client.chat.ends import ends_of
from split_client.chat.reply import Reply
from split_client.chat.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_client.chat.session import ChatSession
from split_client.chat.spelling import Spelling, ends_of_turns
from split_client.chat.tool_turns import MOST_TURNS, Allow
from split_client.errors import Cancelled
from split_client.generation.head.head import HeadKind
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence as TokenSequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.wanted import (
    DraftMemory,
    Drafts,
    draft_memory_of,
    drafts_of,
)
from split_client.generation.stops import stop_texts
from split_client.grammar.form import form_of
from split_client.model.connected import ConnectedModel, Hooks
from split_client.model.ends import DeviceEnds
from split_client.model.forgetting import Forgotten
from split_client.model.wanted import Wanted
from split_client.noise.conversation import NoisedConversation
from split_client.noise.rules import require_blind_adapter, require_no_drafts
from split_client.noise.settings import NoiseSettings
from split_client.tools.families import call_form_of
from split_client.tools.tool import Tool
from split_client.transport.base import Traffic
from split_client.transport.channel import Mode, Patience, Reconnecting
from split_client.transport.endpoint import DEFAULT_URL, Endpoint
from split_client.transport.server_cache import (
    Purged,
    ServerCache,
    fetch_server_cache,
    purge_server_cache,
)
from split_client.weights.manifest import Manifest
from split_client.weights.pull import Progress
from split_client.weights.store import ModelStore
from split_wire.attention import AttentionRequest
from split_wire.messages import Cache


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
    ``on_calibrate`` before the numbers of noise are worked out, as seldom and as long;
    ``on_notice`` tells of lost connections.

    ``adapter``: a name, "auto" (by the words of the newest message, chosen here) or None. The
    server applies it in the clear and sees its name, unless ``adapter_host`` is the URL of a host
    that evaluates it on ciphertexts, with the token ``adapter_token``.

    ``server_cache``: "exact" lets the server keep what it computed of a chat, for later sessions of
    the same token, or without one of the same user; "off" has it keep nothing.

    ``cache_group``, ``share_until``: a group that the server's operator named, whose members may
    find the first positions of every chat; not with noise.

    ``noise``: rows are sent with noise, counted and bounded as the settings say; None: as they are.

    ``drafts``: how many tokens a step guesses, so that it brings several where they are right:
    "auto" (as many as pay), "off", or a number in 1..31. No token of a reply depends on it.
    ``draft_memory``: guesses are made of what the "chat" has sent or received, or of earlier
    replies of all chats of this client ("server"). With noise there are none.
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
        server_cache: Cache = "exact",
        cache_group: str | None = None,
        share_until: int = 0,
        drafts: Drafts = "auto",
        draft_memory: DraftMemory = "chat",
        on_manifest: Callable[[Manifest, bool], None] = lambda _manifest, _stored: None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_prepare: Callable[[], None] = lambda: None,
        on_calibrate: Callable[[], None] = lambda: None,
        on_notice: Callable[[Reconnecting], None] = lambda _: None,
    ) -> None:
        self._wanted = Wanted(
            Endpoint.parse(url),
            token,
            transport,
            lm_head,
            patience or Patience(),
            noise,
            server_cache,
            cache_group,
            share_until,
        )
        self._hooks = Hooks(
            on_manifest, on_progress, on_prepare, on_calibrate, on_notice, self._pause
        )
        self._store = ModelStore(cache)
        self._adapter = adapter
        self._adapter_host, self._adapter_token = adapter_host, adapter_token
        self._chooser = AdapterChooser(self._load_adapters)
        wanted_drafts = drafts_of(drafts)
        if noise is not None:
            if isinstance(wanted_drafts, int):
                require_no_drafts(f"drafts = {wanted_drafts}")
            wanted_drafts = "off"
        self._drafting = Drafting(wanted_drafts, draft_memory_of(draft_memory))
        self._cancel = threading.Event()
        self._model: ConnectedModel | None = None
        self._shared: TokenSequence | None = None
        self._last_noised: NoisedConversation | None = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self, *, begin: bool = False) -> None:
        """Find out which model is served, pull its ends if they are not here, open them.

        ``begin``: a session for the first chat or reply is asked for meanwhile; it counts against
        the server's limits, so only where one follows at once.
        Raises the errors of ``split_client.errors``, ``split_client.generation.errors`` and, for an
        adapter that is not there, ``split_client.adapters.errors``, and with noise those of
        ``split_client.noise.errors``.
        """
        if self._model is not None:
            return
        self.resume()
        if self._wanted.noise is not None:
            require_blind_adapter(self._adapter)
        self._model = ConnectedModel.open(self._wanted, self._store, self._hooks, begin=begin)
        try:
            # A name that nobody knows is told now, not after the first message.
            self._chooser.choice(self._adapter, "")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        model, self._model = self._model, None
        # Another model may answer there the next time, whose tokens have other ids.
        self._drafting = self._drafting.anew()
        self._chooser.close()
        if model is not None:
            # The model ends the sessions of sequences that somebody still holds.
            model.close()
        self._shared, self._last_noised = None, None

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
    ) -> Reply:
        """The answer to ``messages`` (maps of role and content), the last of them the user's.

        ``expected``: a text that it is thought to be, but for differences, such as the file that
        it changes; where that is right, one step brings many tokens.

        ``words`` (``temperature=0``, ``seed=1``) change single settings of ``params``, or of the
        model's own. With ``attention`` the events of its tokens (:meth:`Reply.events`) bring what
        each token attends to; a server without that capability refuses with ``unsupported``.

        ``form``: what the reply is to be: a JSON schema as a dict, a class with
        ``model_json_schema``, or a form of ``split_client.grammar.forms``; :attr:`Reply.value` then
        is the parsed JSON. Raises GrammarInvalid and its kinds.
        """
        said = messages_of(messages)
        return self.begin(
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
    ) -> Reply:
        """The continuation of ``prompt`` as plain text, without a chat template.

        ``words``, ``attention``, ``expected`` and ``form`` as in :meth:`chat`.
        """
        return self.begin(
            Asked.of(prompt, params, words, max_tokens, stop, attention, expected, form)
        )

    def begin(self, asked: Asked, sequence: TokenSequence | None = None) -> Reply:
        """The reply to ``asked``, over ``sequence`` in place of the session that replies share."""
        self.resume()
        ids, text = self._prompt(asked.prompt)
        params = asked.sampling(self.default_params)
        sequence = self._session() if sequence is None else sequence
        adapter = self._chooser.choice(self._adapter, text)
        reply = self._maker().reply(
            sequence,
            ids,
            params,
            asked.max_tokens,
            asked.stop,
            asked.attention,
            drafter=self._drafter(asked.expected),
            form=asked.form,
        )
        reply.adapter = adapter
        reply.on_begin = lambda: self._chooser.use(adapter, sequence)
        return reply

    def sequence(self) -> TokenSequence:
        """A session for replies that are made beside others; with noise the one they all share."""
        if self._wanted.noise is not None:
            return self._session()
        return self._connected().sequence()[0]

    def conversation(
        self,
        system: str | None = None,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        form: Any = None,
        **words: Unpack[SamplingWords],
    ) -> ChatSession:
        """A chat that keeps its own session on the server; a later turn sends only new tokens.

        The settings are those of its replies, as in :meth:`chat`; the chat can change them.
        """
        given, stops, wanted = given_words(words), stop_texts(stop), form_of(form)
        sequence, self._last_noised = self._connected().sequence()
        chat = ChatSession(
            self._maker(),
            self._new_conversation(system),
            sequence,
            self._chooser,
            self._last_noised,
            self._forget,
            self._drafting.chat(),
            CallMaker(self.ends),
        )
        chat.adapter = self._adapter
        chat.max_tokens, chat.stop, chat.form = max_tokens, stops, wanted
        chat.params = sampling_of(params, given, self.default_params) if given else params
        return chat

    def run(
        self,
        messages: Messages,
        tools: Iterable[Tool | Callable[..., object]],
        *,
        most_turns: int = MOST_TURNS,
        choice: str = "auto",
        params: SamplingParams | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        allow: Allow = lambda _call, _tool: True,
        **words: Unpack[SamplingWords],
    ) -> ToolRun:
        """The answer to ``messages`` by a model that may call ``tools``: they are run here, and
        their results are given back, until a reply calls none or ``most_turns`` replies were made.

        ``tools``: functions with annotated parameters, or :class:`Tool`. ``choice``: "auto",
        "required", "none" or a tool's name, for the first reply. ``allow`` may decline a call.
        What does not fit a tool's schema, and exceptions of tools, are told to the model.

        Raises ToolsInvalid, ToolChoiceInvalid, GrammarInvalid and what :meth:`chat` raises.
        """
        chat = self.conversation(None, params, max_tokens=max_tokens, stop=stop, **words)
        try:
            return tool_run(chat, messages_of(messages), tools, choice, most_turns, allow)
        finally:
            chat.close()

    def forget(self, messages: Messages) -> Forgotten:
        """Have the server delete what it keeps of a chat with these ``messages``, for example one
        that was saved: the turns of this device, as far as they can be made again from the texts.
        Other chats of this client that begin with the same turns send all of theirs again. Not for
        a chat that was sent with noise: the names of its plain rows would tell of them.

        Raises NotForgotten and what :meth:`chat` raises.
        """
        return self._forget(self._connected().sequence()[0], messages_of(messages))

    def forget_all(self) -> Purged | None:
        """Have the server delete all that it keeps of this user in memory and on disk; None where
        it does not know how. Open chats send all of theirs again.

        Raises AnswerInvalid and the errors of a connection.
        """
        wanted, model = self._wanted, self._connected()
        self.resume()
        self.forget_drafts()
        model.forget_open()
        salt = model.salt
        return purge_server_cache(wanted.endpoint, wanted.token, salt, wanted.patience.connect)

    def server_keeps(self) -> ServerCache | None:
        """What the server says that it keeps of this user; None where it does not say.

        Raises AnswerInvalid and the errors of a connection.
        """
        wanted = self._wanted
        return fetch_server_cache(wanted.endpoint, wanted.token, wanted.patience.connect)

    def forget_drafts(self) -> None:
        """Nothing of earlier replies is remembered for drafts of other chats."""
        self._drafting.forget()

    def cancel(self) -> None:
        """End the reply that is being made after its next token, and any wait for the server."""
        self._cancel.set()

    def resume(self) -> None:
        """Take back a :meth:`cancel` that nothing has heeded yet."""
        self._cancel.clear()

    @property
    def drafts(self) -> Drafts:
        """How many tokens a step of replies guesses."""
        return self._drafting.drafts

    @property
    def most_drafts(self) -> int:
        """As many as a step of this server may guess."""
        return self._session().interactive_rows - 1

    @property
    def server_cache(self) -> Cache:
        """Whether the server may keep what it computed of a chat for later sessions."""
        return self._wanted.server_cache

    @property
    def ends(self) -> DeviceEnds:
        """The opened ends; connects first."""
        return self._connected().ends

    @property
    def endpoint(self) -> Endpoint:
        """The server's address."""
        return self._wanted.endpoint

    @property
    def manifest(self) -> Manifest:
        """The manifest of the served model."""
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
        """The noise's promises and costs so far, of ``chat`` or the newest; none without noise.

        Raises the ledger's errors.
        """
        noise = self._connected().noise
        if noise is None:
            return []
        return noise.lines(self._last_noised if chat is None else chat.noise)

    @property
    def stats(self) -> ClientStats:
        """Traffic so far."""
        channel = self._connected().channel
        traffic: Traffic = channel.traffic
        return ClientStats(
            traffic.sent,
            traffic.received,
            traffic.exchanges,
            channel.transport_name,
            channel.reconnects,
        )

    def _connected(self) -> ConnectedModel:
        self.connect()
        if self._model is None:
            raise RuntimeError("the client is not connected")
        return self._model

    def _forget(self, sequence: TokenSequence, messages: tuple[Message, ...]) -> Forgotten:
        self.resume()
        self.forget_drafts()
        model = self._connected()
        # Rows with noise are not asked for by name, so nobody needs to know which they were.
        blind = model.noise is not None or self.server_cache == "off"
        empty = self._new_conversation(None)
        ends = [] if blind else ends_of(messages, empty, model.ends.tokenizer)
        return model.forget(sequence, ends)

    def _maker(self) -> ReplyMaker:
        model = self._connected()
        noised = model.noise is not None
        return ReplyMaker(model.ends, model.channel.traffic, self._cancel, noised=noised)

    def _drafter(self, expected: str | None) -> Drafter | None:
        """That of a reply outside of any chat."""
        if expected is not None and self._wanted.noise is not None:
            require_no_drafts("an expected text")
        if self._drafting.drafts == "off":
            return None
        return self._drafting.chat().drafter(self._maker().expected(expected))

    def _prompt(self, prompt: str | tuple[Message, ...]) -> tuple[list[int], str]:
        """Token ids, and the text that chooses an adapter."""
        if isinstance(prompt, str):
            return self.ends.tokenizer.encode(prompt, add_special_tokens=True), prompt
        conversation = self._new_conversation(None)
        conversation.replace(prompt)
        return conversation.prompt().ids, conversation.messages[-1].content

    def _load_adapters(self) -> Adapters:
        if self._adapter_host is None:
            wanted = self._wanted
            return ClearAdapters.at(wanted.endpoint, wanted.token, wanted.patience.connect)
        # Keys and ciphertexts need libraries that a client without a host does not load.
        from split_client.crypto.hosted import HostedAdapters

        return HostedAdapters(
            self._adapter_host,
            self._adapter_token,
            self.manifest,
            patience=self._wanted.patience,
            pause=self._pause,
        )

    def _new_conversation(self, system: str | None) -> Conversation:
        ends = self.ends
        bound = TextBound(ends.manifest.max_context, ends.tokenizer.longest_token)
        template = ends.template()
        spelling = Spelling(call_form_of(template.source), ends_of_turns(ends))
        return Conversation(template, ends.tokenizer, system, bound, spelling)

    def _session(self) -> TokenSequence:
        if self._shared is None:
            self._shared, self._last_noised = self._connected().sequence()
        return self._shared

    def _pause(self, seconds: float) -> None:
        if self._cancel.wait(seconds):
            raise Cancelled
