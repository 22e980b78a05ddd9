"""A chat with a session of its own on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from split_client.adapters.chooser import AdapterChooser
from split_client.chat.attended import MEAN_ROWS
from split_client.chat.brightness.dimmest import dimmest
from split_client.chat.brightness.gathering import Gathering, gathering
from split_client.chat.brightness.rows import request_of
from split_client.chat.brightness.view import ChatBrightness
from split_client.chat.calling import CallMaker, text_before_calls
from split_client.chat.context.fill import TokenCounter
from split_client.chat.context.room import ChatContext
from split_client.chat.context.travelling import placed
from split_client.chat.conversation import Conversation, Message, Prompt
from split_client.chat.drafting import NO_DRAFTS, ChatDrafts
from split_client.chat.reply import Reply
from split_client.chat.reply_maker import ReplyMaker
from split_client.chat.settings import ChatSettings
from split_client.chat.steering.answers import Answered, Answers
from split_client.chat.steering.begun import Begun
from split_client.chat.steering.branches import Branches
from split_client.chat.steering.going_on import begun_reply, branched
from split_client.chat.steering.tokens import ReplyToken
from split_client.chat.verifying import Checks, Verified, Verifier, Verify
from split_client.chat.visible.hiding import Hiding
from split_client.chat.visible.least_attended import least_attended
from split_client.chat.visible.places import always_seen
from split_client.generation.documents.attached import Attached
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.model.forgetting import Forgotten
from split_client.model.token_pieces import pieces_of
from split_client.model.tokenizer import ModelTokenizer
from split_client.noise.conversation import NoisedConversation
from split_client.noise.rules import require_blind_adapter, require_no_drafts
from split_wire.attention import AttentionRequest, AttentionWeights
from split_wire.hiding.spans import count


class ChatSession(ChatSettings):
    """A conversation whose later turns send only new tokens.

    Its settings are described with :class:`ChatSettings`. ``conversation`` offers undo, system
    message and the like; ``chooser`` knows the adapters; ``noise`` has the key and the spending of
    a chat that is sent with noise; ``forget`` has the server delete what it keeps of a session and
    of messages. ``calls`` has the tools, which ``tools`` and ``tool_choice`` change; a reply with a
    form calls none. ``verify``: whether each approximate reply is computed plainly as well, or a
    share of them; ``verified`` is what was found of the last one. ``branches``: what the chat was
    before it went another way; ``context``: what of it travels.
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
        drafts = NO_DRAFTS.chat() if drafts is None else drafts
        super().__init__(maker, conversation, sequence, noise, drafts, calls)
        self.branches = Branches()
        self._answers = Answers()
        self._looked: Gathering | None = None
        self._attached = Attached()
        conversation.on_anew += [drafts.forget, self.branches.forget, self._answers.forget]
        self._forget = forget
        self.context = ChatContext(
            conversation,
            TokenCounter(conversation.encoded),
            lambda: self._maker.ends.manifest.max_context,
            lambda ids: (sequence.shared(ids), sequence.movable(ids)),
            dimmest,
        )
        self._verifier = verifier
        self.verify: Verify = "audit"
        self.verified: Verified | None = None
        self._checks = None if verifier is None else Checks(verifier, sequence)
        self._chooser = chooser
        self.adapter_used: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat so far."""
        return self.conversation.messages

    @property
    def row_bytes(self) -> int:
        """Bytes in which the row of a token travels, scales left out."""
        width = {"f32": 4, "i8": 1}.get(self._sequence.dtype or "f16", 2)
        return width * self._maker.ends.manifest.hidden_size

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
        """The reply that the chat ends with, where this session has made it lately."""
        return self._answers.of(self.messages)

    @property
    def tokens(self) -> tuple[ReplyToken, ...]:
        """Those of the reply that the chat ends with; none where nothing is kept of them."""
        answered = self.answered
        return () if answered is None or answered.log is None else answered.log.tokens()

    @property
    def brightness(self) -> ChatBrightness:
        """How much replies looked at each part of the chat, which ``brighten`` has gathered."""
        known = None if self.answered is None or self._looked is None else self._looked
        if known is not None and known.chat != self.messages[:-1]:
            known = None
        return ChatBrightness(self.messages, self._tokenizer, known)

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

    def send(self, text: str, documents: Iterable[str] = ()) -> Reply:
        """Say ``text``; the reply joins the chat once it is read to its end, unless it is empty.

        ``documents`` come before it in the message. Where the chat takes approximate rows, those
        that the server knows from other texts are not computed again, what ``text`` says always is.
        """
        self.say(text, documents)
        return self.answer()

    def say(self, text: str, documents: Iterable[str] = ()) -> None:
        """The part of :meth:`send` before the reply. Raises PromptEmpty."""
        self.conversation.say(self._attached.message(text, tuple(documents)))

    def answer(self) -> Reply:
        """Reply to the last message of the user, or to the results of tools, again if need be.

        With tools the reply's ``calls`` are what it wants to be run; see
        :class:`split_client.chat.tool_turns.ToolTurns`.

        ``adapter_used`` and the reply's ``adapter`` tell with which adapter. Raises UnknownAdapter,
        NoiseForbids, also for an ``expected`` text with noise; ContextFull, ContextTooSmall by the
        policy of ``context``.
        """
        self._maker.resume()
        self.branches.note(self.messages)
        self.conversation.drop_reply()
        self.context.make_room(self.max_tokens)
        return self._made(self.conversation.prompt())

    def go_on(self) -> Reply:
        """Continue the reply that the chat ends with, in place: one that was stopped or cut, or
        that :meth:`Conversation.amend` has changed. Its tokens so far stay; what follows is what
        would have followed, draws and penalties included.

        Raises NothingToContinue, BranchInvalid where a form does not permit what is there, and as
        :meth:`answer`.
        """
        self._maker.resume()
        ends = self._maker.ends.manifest.eos_token_ids
        return self._made(*begun_reply(self.conversation, self.answered, self._tokenizer, ends))

    def branch(self, at: int, token: int | str) -> Reply:
        """Go on from token ``at`` (from 0) of the reply that the chat ends with, with ``token`` in
        its place: an id, or the text of one token. What is before it stays as it is, and nothing
        but that token is sent again; the reply so far stays one of ``branches``.

        Raises NothingToContinue, BranchInvalid, and as :meth:`answer`.
        """
        self._maker.resume()
        answered, rows = self.answered, self._maker.ends.head.rows.rows
        prompt, begun = branched(self.conversation, answered, self._tokenizer, at, token, rows)
        reply = self._made(prompt, begun)
        self.branches.note(self.messages)
        return reply

    def go_to(self, branch: int) -> None:
        """Be the branch of that number, from 1, again; the chat as it is stays a branch.

        Raises BranchInvalid.
        """
        self.conversation.go_to(self.branches.take(branch, self.messages))

    def _made(self, prompt: Prompt, begun: Begun | None = None) -> Reply:
        """The reply to ``prompt``, which goes on from what is ``begun`` of it."""
        self.verified = None
        adapter = self._choice()
        calls, looking, said = self.calls, self._looking(prompt), self._said()
        out, redaction = self.redaction.text, self.redaction
        reply = self._maker.reply(
            self._sequence,
            prompt.ids,
            self.params,
            self.max_tokens,
            tuple(map(out, self._stop)),
            self._asked(),
            drafter=self._drafter(),
            form=redaction.form(self._form),
            calls=calls.constraint() if calls is not None and self._form is None else None,
            question=out(said),
            asked=out(self._attached.asked(said)),
            begun=begun,
            states=self.alternatives,
        )
        reply.undo, reply.undone = redaction.undo(self._form), redaction.value
        if calls is not None and self._form is None:
            reply.listener = calls.listener()
        if begun is not None:
            reply.go_on_from(text_before_calls(begun.texts(self._tokenizer), reply.listener))
        reply.adapter = self.adapter_used = adapter
        if looking is not None:
            reply.on_token = looking.heard
        reply.on_begin = lambda: self._use(adapter)
        reply.on_finish = lambda: self._join(prompt, reply, begun, looking)
        return reply

    def _asked(self) -> AttentionRequest | None:
        """Which attention each token brings: what is set, or else what brightness is made of."""
        if self.attention is not None or self.brighten is None:
            return self.attention
        return request_of(self.brighten, self._maker.ends.manifest.num_layers)

    def _looking(self, prompt: Prompt) -> Gathering | None:
        """What gathers brightness from a reply to ``prompt``, which is that of the chat."""
        if self.brighten is None:
            return None
        chat = self.messages[:-1] if self.messages[-1].role == "assistant" else self.messages
        return gathering(self.brighten, chat, placed(chat), pieces_of(self._tokenizer, prompt.ids))

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
        return self._forget(self._sequence, self.redaction.given(self.messages))

    @property
    def _tokenizer(self) -> ModelTokenizer:
        return self._maker.ends.tokenizer

    def _drafter(self) -> Drafter | None:
        if self.expected is not None and self.noise is not None:
            require_no_drafts("an expected text")
        if self._drafts.drafts == "off":
            return None
        expected = self.expected and self.redaction.text(self.expected)
        return self._drafts.drafter(self._maker.expected(expected))

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

    def _join(
        self, prompt: Prompt, reply: Reply, begun: Begun | None, looking: Gathering | None
    ) -> None:
        # Stopped before its first token: the message stays unanswered, a reply as it was.
        if not reply.token_ids and (begun is None or reply.finish_reason == "cancelled"):
            return
        made = [*(() if begun is None else begun.ids), *reply.token_ids]
        self.redaction.note_reply(reply)
        if self.conversation.reply(prompt, reply.beginning + reply.text, made, reply.calls):
            ids, chat = (*prompt.ids, *made), self.messages
            given = self.conversation.given_with(chat)
            self._answers.add(Answered(given, ids, len(prompt.ids), chat, reply.log))
            if looking is not None:
                self.conversation.brighten(looking.messages())
                self._looked = looking
            if self._checks is not None:
                found = self._checks.after(self.verify, reply.stats, ids, len(prompt.ids))
                self.verified = found
