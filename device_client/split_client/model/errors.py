"""Errors of a connected model, added to those of :mod:`split_client.errors`."""

from __future__ import annotations

from split_client.errors import ClientError


class NotForgotten(ClientError):
    """The server did not say that it deleted what it keeps."""

    code = "not_forgotten"

    def __init__(self) -> None:
        super().__init__(
            "the server did not confirm that it deleted what it keeps of this chat; try again, or "
            "wait: unused, it goes by itself"
        )
