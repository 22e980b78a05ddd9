"""Clients that send rows with noise on a ledger."""

from __future__ import annotations

from pathlib import Path

from split_client.noise.account import Account
from split_client.noise.conversation import NoisedConversation
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Kind
from split_privacy.mechanism import RowMechanism
from tests.split_client.noise.tables import MODEL, WIDTH, clean

MECHANISM = RowMechanism(2.0, 3.0, 6.0, WIDTH)
KIND = Kind.of(MECHANISM)


class Client:
    """One client with a conversation; ``sent``: rows that left."""

    def __init__(self, path: Path, identity: str = "me", key: bytes | None = None) -> None:
        self.ledger = Ledger(path)
        self.account = Account(self.ledger, identity, MODEL, KIND, None)
        folder = path.with_name("releases")
        self.conversation = NoisedConversation(MECHANISM, clean, MODEL, self.account, folder, key)
        self.tokens: list[int] = []
        self.sent = 0

    def say(self, count: int) -> None:
        """A message of so many tokens."""
        self._send([len(self.tokens) + n for n in range(count)])

    def reply(self, count: int) -> None:
        """A reply, token by token."""
        for _ in range(count):
            self._send([7])

    def _send(self, more: list[int]) -> None:
        begin = len(self.tokens)
        self.tokens += [token % 300 for token in more]
        self.conversation.rows(self.tokens, begin, len(self.tokens), "f32")
        self.sent += len(more)
