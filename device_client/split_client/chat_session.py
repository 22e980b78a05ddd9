"""A chat with a session of its own on the server."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.conversation import Conversation, Message, Prompt
from split_client.generation.sampling_params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.reply import Reply
from split_client.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_wire.attention import AttentionRequest, AttentionWeights


@dataclass(frozen=True, slots=True)
class Answered:
    """A chat that ends with a reply: ``ids`` of its prompt, ``prompt_tokens`` long, and of it."""

    messages: tuple[Message, ...]
    ids: tuple[int, ...]
    prompt_tokens: int


class ChatSession:
    """A conversation whose later turns send only new tokens.

    ``params`` (None: the model's own), ``max_tokens``, ``stop`` and ``attention`` (which attention
    the events of a reply's tokens bring; None: none) may be changed at any time; ``conversation``
    offers undo, system message and the like.
    """

    def __init__(self, maker: ReplyMaker, conversation: Conversation, sequence: Sequence) -> None:
        self._maker = maker
        self._sequence = sequence
        self.conversation = conversation
        self.params: SamplingParams | None = None
        self.max_tokens = DEFAULT_MAX_TOKENS
        self.stop: tuple[str, ...] = ()
        self.attention: AttentionRequest | None = None
        self._last: Answered | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat so far."""
        return self.conversation.messages

    @property
    def cached_tokens(self) -> int:
        """Positions that the server holds."""
        return self._sequence.cached

    @property
    def answered(self) -> Answered | None:
        """The last reply as long as the chat ends with it."""
        last = self._last
        return last if last is not None and last.messages == self.messages else None

    def attend(self, ids: tuple[int, ...], request: AttentionRequest) -> AttentionWeights:
        """What the last of ``ids``, a beginning of the chat's, attends to.

        One step of the chat's own session, after which a reply goes on as it would have without.
        Raises ServerRefused (``unsupported``, ``attention_too_large``) and the errors of a step.
        """
        return self._maker.attention(self._sequence, list(ids), request)

    def send(self, text: str) -> Reply:
        """Say ``text``; the reply joins the chat once it is read to its end, unless it is empty."""
        self.conversation.say(text)
        return self.answer()

    def answer(self) -> Reply:
        """Reply to the last message of the user, again if need be."""
        self.conversation.drop_reply()
        prompt = self.conversation.prompt()
        reply = self._maker.reply(
            self._sequence, prompt.ids, self.params, self.max_tokens, self.stop, self.attention
        )
        reply.on_finish = lambda: self._join(prompt, reply)
        return reply

    def close(self) -> None:
        """End the session on the server; a later reply opens another and sends the whole chat."""
        self._sequence.close()

    def _join(self, prompt: Prompt, reply: Reply) -> None:
        # Stopped before its first token: the message stays unanswered.
        if not reply.token_ids:
            return
        if self.conversation.reply(prompt, reply.text, reply.token_ids):
            ids = (*prompt.ids, *reply.token_ids)
            self._last = Answered(self.messages, ids, len(prompt.ids))
