"""A chat with a session of its own on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from split_client.adapters.chooser import AdapterChooser
from split_client.chat.attended import MEAN_ROWS
from split_client.chat.calling import CallMaker
from split_client.chat.conversation import Conversation, Message, Prompt
from split_client.chat.drafting import NO_DRAFTS, ChatDrafts
from split_client.chat.reply import Reply
from split_client.chat.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_client.chat.verifying import Verified, Verifier, Verify
from split_client.chat.visible.hiding import Hiding
from split_client.chat.visible.least_attended import least_attended
from split_client.chat.visible.places import always_seen
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.wanted import Drafts, drafts_of
from split_client.generation.stops import stop_texts
from split_client.grammar.form import Form, form_of
from split_client.model.forgetting import Forgotten
from split_client.noise.conversation import NoisedConversation
from split_client.noise.rules import require_blind_adapter, require_no_drafts
from split_client.tools.tool import Tool
from split_wire.attention import AttentionRequest, AttentionWeights
from split_wire.hiding.spans import count


@dataclass(frozen=True, slots=True)
class Answered:
    """A chat that ends with a reply: ``ids`` of its prompt, ``prompt_tokens`` long, and of it."""

    messages: tuple[Message, ...]
    ids: tuple[int, ...]
    prompt_tokens: int


class ChatSession:
    """A conversation whose later turns send only new tokens.

    ``params`` (None: the model's own), ``max_tokens``, ``stop`` and ``attention`` (which attention
    the events of a reply's tokens bring; None: none) may be changed at any time, and so may
    ``adapter``: a name, "auto" (chosen for each reply by the user's newest message) or None, and
    ``expected``: a text that the next reply is thought to be, but for differences, or None.
    ``conversation`` offers undo, system message and the like; ``chooser`` knows the adapters;
    ``noise`` has the key and the spending of a chat that is sent with noise; ``forget`` has the
    server delete what it keeps of a session and of messages. ``calls`` has the tools, which
    ``tools`` and ``tool_choice`` change; a reply with a form calls none. ``verify``: whether each
    approximate reply is computed plainly as well, or a share of them; ``verified`` is what was
    found of the last one.
    """

    def __init__(
        self,
        maker: ReplyMaker,
        conversation: Conversation,
        sequence: Sequence,
        chooser: AdapterChooser | None = None,
        noise: NoisedConversation | None = None,
        forget: Callable[[Sequence, tuple[Message, ...]], Forgotten] | None = None,
        drafts: ChatDrafts | None = None,
        calls: CallMaker | None = None,
        verifier: Verifier | None = None,
    ) -> None:
        self._drafts = NO_DRAFTS.chat() if drafts is None else drafts
        conversation.on_anew.append(self._drafts.forget)
        self._forget = forget
        self.calls = calls
        self._maker = maker
        self._sequence = sequence
        self._verifier = verifier
        self.verify: Verify = "audit"
        self.verified: Verified | None = None
        if verifier is not None:
            sequence.edits.allowed = lambda: not verifier.record.stopped
        self._chooser = chooser
        self.noise = noise
        self.conversation = conversation
        self.params: SamplingParams | None = None
        self.max_tokens = DEFAULT_MAX_TOKENS
        self._stop: tuple[str, ...] = ()
        self._form: Form | None = None
        self.attention: AttentionRequest | None = None
        self.expected: str | None = None
        self.adapter: str | None = None
        self.adapter_used: str | None = None
        self._last: Answered | None = None

    @property
    def stop(self) -> tuple[str, ...]:
        """The texts before which a reply ends; a text that is set alone is one of them."""
        return self._stop

    @stop.setter
    def stop(self, stop: str | Iterable[str]) -> None:
        self._stop = stop_texts(stop)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that replies may call; functions that are set become tools.

        Raises ToolsInvalid.
        """
        return () if self.calls is None else self.calls.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool | Callable[..., object]]) -> None:
        if self.calls is None:
            raise RuntimeError("this chat has no model that could call tools")
        self.calls.tools = tuple(tools)
        self.conversation.tools = self.calls.documents()

    @property
    def tool_choice(self) -> str:
        """``auto``, ``required``, ``none``, or the name of the tool that the reply is to call.

        Raises ToolChoiceInvalid.
        """
        return "auto" if self.calls is None else self.calls.choice

    @tool_choice.setter
    def tool_choice(self, choice: str) -> None:
        if self.calls is not None:
            self.calls.choice = choice

    @property
    def drafts(self) -> Drafts:
        """How many tokens each step guesses: "auto" (as many as pay), "off" or a number.

        Setting it raises InvalidSamplingParameter, and NoiseForbids for a number with noise.
        """
        return self._drafts.drafts

    @drafts.setter
    def drafts(self, drafts: Drafts) -> None:
        wanted = drafts_of(drafts)
        if self.noise is not None and wanted != "off":
            require_no_drafts("drafts")
        self._drafts.drafts = wanted

    def forget_drafts(self) -> None:
        """Nothing of this chat is remembered for drafts, but for what all chats share."""
        self._drafts.forget()

    @property
    def most_drafts(self) -> int:
        """As many as a step of this server may guess; opens the session."""
        return self._sequence.interactive_rows - 1

    @property
    def form(self) -> Form | None:
        """What replies are to be; None: any text. A dict, or a class with ``model_json_schema``,
        that is set is a JSON schema. Setting it raises GrammarInvalid.
        """
        return self._form

    @form.setter
    def form(self, form: Any) -> None:
        self._form = form_of(form)

    def take_form(self, form: Any) -> None:
        """Set ``form`` once it is compiled, so that one that cannot be used is refused before a
        message is written. Takes about a second for each form. Raises GrammarInvalid and its kinds.
        """
        wanted = form_of(form)
        if wanted is not None:
            self._maker.ends.forms.constraint(wanted)
        self._form = wanted

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat so far."""
        return self.conversation.messages

    @property
    def cached_tokens(self) -> int:
        """Positions that the server holds."""
        return self._sequence.cached

    def reusable(self) -> tuple[int, int]:
        """How many tokens of the next reply's prompt stay where they are in the session, and how
        many others would be moved. Raises as :meth:`Conversation.prompt`.
        """
        ids = list(self.conversation.prompt().ids)
        return self._sequence.shared(ids), self._sequence.movable(ids)

    @property
    def answered(self) -> Answered | None:
        """The last reply as long as the chat ends with it."""
        last = self._last
        return last if last is not None and last.messages == self.messages else None

    @property
    def visible(self) -> Hiding:
        """What later replies see of the chat as it is now, to hide parts of it and show them."""
        return Hiding(self._sequence, lambda: self._maker.ends.tokenizer, self.answered)

    def ask_seeing(self, text: str, share: float) -> int:
        """Say ``text``, and have its reply see about ``share`` of the chat before it: what the
        message attends to least is hidden, and nothing else; how many positions those are.
        :meth:`answer` then replies. One step more, with all of the chat in sight.

        Raises NothingToHide before the first reply, ServerRefused (``unsupported``) and the errors
        of a step; the message is said all the same.
        """
        visible = self.visible
        try:
            parts, length = visible.parts(), visible.length
        finally:
            self.conversation.say(text)
        self._sequence.show()
        ids = self.conversation.prompt().ids
        weights = self._maker.attention(self._sequence, ids, MEAN_ROWS)
        # A template may have made less of the chat before than it was.
        before = min(length, len(ids) - 1)
        row = weights.values.mean(axis=(0, 1), dtype=np.float64)[:before]
        spans = least_attended(row, share, always_seen(parts))
        self._sequence.hide(ids, spans, ((before, len(ids)),))
        return count(spans)

    def attend(self, ids: tuple[int, ...], request: AttentionRequest) -> AttentionWeights:
        """The attention of the last of ``ids``, a beginning of the chat's.

        One step of the chat's own session, after which a reply goes on as it would have without.
        Raises ServerRefused (``unsupported``, ``attention_too_large``) and the errors of a step.
        """
        return self._maker.attention(self._sequence, list(ids), request)

    def send(self, text: str) -> Reply:
        """Say ``text``; the reply joins the chat once it is read to its end, unless it is empty."""
        self.conversation.say(text)
        return self.answer()

    def answer(self) -> Reply:
        """Reply to the last message of the user, or to the results of tools, again if need be.

        With tools the reply's ``calls`` are what it wants to be run; see
        :class:`split_client.chat.tool_turns.ToolTurns`.

        ``adapter_used`` and the reply's ``adapter`` tell with which adapter. Raises UnknownAdapter,
        NoiseForbids, also for an ``expected`` text with noise.
        """
        self._maker.resume()
        self.verified = None
        self.conversation.drop_reply()
        prompt = self.conversation.prompt()
        adapter = self._choice()
        calls = self.calls
        reply = self._maker.reply(
            self._sequence,
            prompt.ids,
            self.params,
            self.max_tokens,
            self._stop,
            self.attention,
            drafter=self._drafter(),
            form=self._form,
            calls=calls.constraint() if calls is not None and self._form is None else None,
            question=self._said(),
        )
        if calls is not None and self._form is None:
            reply.listener = calls.listener()
        reply.adapter = self.adapter_used = adapter
        reply.on_begin = lambda: self._use(adapter)
        reply.on_finish = lambda: self._join(prompt, reply)
        return reply

    def close(self) -> None:
        """End the session on the server; a later reply opens another and sends the whole chat."""
        self._sequence.close()

    def forget(self, *, texts: bool = True) -> Forgotten:
        """End the session, and have the server delete what it keeps of this chat: its branches, and
        what earlier sessions left of its messages. The chat stays; its next turn sends all of it.

        ``texts``: whether the names of rows may be told that this session has not sent, which are
        made of the messages; not of a chat that was sent with noise before.
        Raises NotForgotten and the errors of a step; what was deleted by then stays deleted.
        """
        if self._forget is None:
            raise RuntimeError("this chat has no server that could forget it")
        self._drafts.forget()
        if not texts:
            return replace(self._forget(self._sequence, ()), earlier=False)
        return self._forget(self._sequence, self.messages)

    def _drafter(self) -> Drafter | None:
        if self.expected is not None and self.noise is not None:
            require_no_drafts("an expected text")
        if self._drafts.drafts == "off":
            return None
        return self._drafts.drafter(self._maker.expected(self.expected))

    def _choice(self) -> str | None:
        if self._chooser is None:
            return None
        if self.noise is not None:
            require_blind_adapter(self.adapter)
        return self._chooser.choice(self.adapter, self._said())

    def _said(self) -> str:
        """The newest message of the user."""
        said = (message.content for message in reversed(self.messages) if message.role == "user")
        return next(said, "")

    def _use(self, adapter: str | None) -> None:
        if self._chooser is not None:
            self._chooser.use(adapter, self._sequence)

    def _join(self, prompt: Prompt, reply: Reply) -> None:
        # Stopped before its first token: the message stays unanswered.
        if not reply.token_ids:
            return
        if self.conversation.reply(prompt, reply.text, reply.token_ids, reply.calls):
            ids = (*prompt.ids, *reply.token_ids)
            self._last = Answered(self.messages, ids, len(prompt.ids))
            self._verify(reply, ids, len(prompt.ids))

    def _verify(self, reply: Reply, ids: tuple[int, ...], prompt: int) -> None:
        """Have an approximate reply computed plainly as well, each or a share of them; what is too
        far off ends the session, so that the next reply is exact.
        """
        verifier = self._verifier
        if verifier is None or not reply.stats.prompt_tiers.approximate:
            return
        # What a reply was not to see is seen by the plain computation.
        if self._sequence.hidden_of(list(ids)):
            return
        if verifier.due(self.verify):
            self.verified = found = verifier.tried(self._sequence, ids, prompt)
            if found is not None and not found.passed:
                self._sequence.close()
