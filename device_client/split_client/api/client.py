"""The synchronous client: a model whose ends are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

from split_client.api.asked import (
    Asked,
    Messages,
    SamplingWords,
    given_words,
    messages_of,
    sampling_of,
)
from split_client.api.connected import redaction_settings
from split_client.api.forgetting import ForgettingClient
from split_client.api.tool_run import ToolRun, tool_run
from split_client.chat.calling import CallMaker
from split_client.chat.conversation import Message
from split_client.chat.reply import Reply
from split_client.chat.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_client.chat.session import ChatSession
from split_client.chat.tool_turns import MOST_TURNS, UNASKED, Allow
from split_client.chat.verifying import Verifier
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence as TokenSequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.stops import stop_texts
from split_client.grammar.form import form_of
from split_client.noise.rules import require_no_drafts
from split_client.redaction.settings import RedactionSettings
from split_client.tools.tool import Tool
from split_wire.attention import AttentionRequest


class SplitClient(ForgettingClient):
    """A model whose ends are here and whose middle is at ``url``.

    The other options are described with :meth:`__init__`.
    """

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
        redaction = self.redaction
        reply = self._maker().reply(
            sequence,
            ids,
            params,
            asked.max_tokens,
            tuple(map(redaction.text, asked.stop)),
            asked.attention,
            drafter=self._drafter(asked.expected),
            form=redaction.form(asked.form),
            question="" if isinstance(asked.prompt, str) else redaction.text(text),
        )
        reply.undo, reply.undone = redaction.undo(asked.form), redaction.value
        reply.on_finish = lambda: redaction.note_reply(reply)
        reply.adapter = adapter
        reply.on_begin = lambda: self._chooser.use(adapter, sequence)
        return reply

    def conversation(
        self,
        system: str | None = None,
        params: SamplingParams | None = None,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop: str | Iterable[str] = (),
        form: Any = None,
        redact: RedactionSettings | bool | None = None,
        **words: Unpack[SamplingWords],
    ) -> ChatSession:
        """A chat that keeps its own session on the server; a later turn sends only new tokens.

        The settings are those of its replies, as in :meth:`chat`; the chat can change them.
        ``redact``: as of the client, with a map of its own; None: as the client's.
        """
        given, stops, wanted = given_words(words), stop_texts(stop), form_of(form)
        sequence, self._last_noised = self._connected().sequence()
        conversation = self._new_conversation(system)
        chat = ChatSession(
            self._maker(),
            conversation,
            sequence,
            self._chooser,
            self._last_noised,
            self._forget,
            self._drafting.chat(),
            CallMaker(self.ends, conversation.redaction.tool),
            self._verifier(),
        )
        chat.redact(self._redact if redact is None else redaction_settings(redact))
        chat.verify = self._verify
        sequence.edits.blend = sequence.documents.blend = self._blend
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
        allow: Allow = lambda _call, _tool: UNASKED,
        **words: Unpack[SamplingWords],
    ) -> ToolRun:
        """The answer to ``messages`` by a model that may call ``tools``: they are run here, and
        their results are given back, until a reply calls none or ``most_turns`` replies were made.

        ``tools``: functions with annotated parameters, or :class:`Tool`. ``choice``: "auto",
        "required", "none" or a tool's name, for the first reply. ``allow`` may decline a call; with
        redaction its arguments are undone only where ``allow`` returns True.
        What does not fit a tool's schema, and exceptions of tools, are told to the model.

        Raises ToolsInvalid, ToolChoiceInvalid, GrammarInvalid and what :meth:`chat` raises.
        """
        chat = self.conversation(None, params, max_tokens=max_tokens, stop=stop, **words)
        try:
            return tool_run(chat, messages_of(messages), tools, choice, most_turns, allow)
        finally:
            chat.close()

    def privacy_lines(self, chat: ChatSession | None = None) -> list[str]:
        """The noise's promises and costs so far, of ``chat`` or the newest; none without noise.

        Raises the ledger's errors.
        """
        noise = self._connected().noise
        if noise is None:
            return []
        return noise.lines(self._last_noised if chat is None else chat.noise)

    def _maker(self) -> ReplyMaker:
        model = self._connected()
        noised = model.noise is not None
        return ReplyMaker(model.ends, model.channel.traffic, self._cancel, noised=noised)

    def _verifier(self) -> Verifier | None:
        """What computes approximate replies plainly as well; None where no chat has any."""
        model = self._connected()
        if self._wanted.server_cache != "approximate" or model.noise is not None:
            return None
        return Verifier(model.ends.head, model.apart, self.verified, self._verify_share)

    def _drafter(self, expected: str | None) -> Drafter | None:
        """That of a reply outside of any chat."""
        if expected is not None and self._wanted.noise is not None:
            require_no_drafts("an expected text")
        if self._drafting.drafts == "off":
            return None
        drafts = self._drafting.chat()
        if self._redact is not None:
            drafts.alone()
            expected = expected and self.redaction.text(expected)
        return drafts.drafter(self._maker().expected(expected))

    def _prompt(self, prompt: str | tuple[Message, ...]) -> tuple[list[int], str]:
        """Token ids, and the text that chooses an adapter."""
        if isinstance(prompt, str):
            out = self.redaction.text(prompt)
            return self.ends.tokenizer.encode(out, add_special_tokens=True), prompt
        conversation = self._new_conversation(None, self.redaction)
        conversation.replace(prompt)
        return conversation.prompt().ids, conversation.messages[-1].content
