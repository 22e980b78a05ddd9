"""Redaction of what a client sends beside its conversations."""

from __future__ import annotations

from split_client.api.connected import ConnectedClient
from split_client.chat.message import Message
from split_client.chat.redacting.redaction import ChatRedaction


class RedactingClient(ConnectedClient):
    """The part of :class:`SplitClient` that knows what is redacted."""

    _shared_redaction: ChatRedaction | None = None

    @property
    def redaction(self) -> ChatRedaction:
        """That of :meth:`SplitClient.chat` and :meth:`SplitClient.generate`, which have one map;
        connects first.
        """
        if self._shared_redaction is None:
            tokenizer = self.ends.tokenizer
            self._shared_redaction = ChatRedaction(
                lambda text: len(tokenizer.encode(text)), self._redact
            )
        return self._shared_redaction

    def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        super().close()
        # Its tokens were counted by a model that may be another one by then.
        self._shared_redaction = None

    def _given(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Messages as the model is given them, where anything is redacted."""
        return messages if self._redact is None else self.redaction.given(messages)
