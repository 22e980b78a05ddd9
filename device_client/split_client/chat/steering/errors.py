"""Errors of replies that go on from a place, and of messages that are taken out."""

from __future__ import annotations

from split_client.errors import ClientError


class NothingToContinue(ClientError):
    """The chat does not end with a reply that can go on."""

    code = "nothing_to_continue"

    def __init__(self, reason: str) -> None:
        super().__init__(f"nothing goes on: {reason}")


class BranchInvalid(ClientError):
    """No reply can go on from that token at that place."""

    code = "branch_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"no reply goes on from there: {reason}")


class MessageNotRemoved(ClientError):
    """A message that the chat needs, or that is not there; nothing was changed."""

    code = "message_not_removed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"nothing is removed: {reason}")
