"""The root of the tree, and the end that a caller asked for."""

from __future__ import annotations


class ClientError(Exception):
    """Base of the tree."""

    code: str = "client_error"


class Cancelled(ClientError):
    """The caller asked to stop while waiting for the server."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("stopped on request")
