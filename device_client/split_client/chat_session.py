"""A chat with a session of its own on the server."""

from __future__ import annotations

from split_client.conversation import Conversation, Message, Prompt
from split_client.generation.sampling_params import SamplingParams
from split_client.generation.sequence import Sequence
from split_client.reply import Reply
from split_client.reply_maker import DEFAULT_MAX_TOKENS, ReplyMaker
from split_wire.attention import AttentionRequest


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

    @property
    def messages(self) -> tuple[Message, ...]:
        """The chat so far."""
        return self.conversation.messages

    @property
    def cached_tokens(self) -> int:
        """Positions that the server holds."""
        return self._sequence.cached

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
        if reply.token_ids:
            self.conversation.reply(prompt, reply.text, reply.token_ids)
