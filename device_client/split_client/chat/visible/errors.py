"""Errors of hiding parts of a chat."""

from __future__ import annotations

from split_client.errors import ClientError


class NothingToHide(ClientError):
    """The chat does not end with a reply, or has nothing of the kind that was named."""

    code = "nothing_to_hide"

    def __init__(self, reason: str) -> None:
        super().__init__(f"nothing is hidden: {reason}")
