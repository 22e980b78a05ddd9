"""Errors of redaction::

ClientError
└── RedactionError
    ├── RedactionInvalid
    ├── RedactionMapInvalid
    └── RedactionExhausted
"""

from __future__ import annotations

from split_client.errors import ClientError


class RedactionError(ClientError):
    """Base of the tree."""

    code = "redaction_error"


class RedactionInvalid(RedactionError):
    """Settings that cannot be."""

    code = "redaction_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"redaction cannot be set so: {reason}")


class RedactionMapInvalid(RedactionError):
    """A map that was not written by this program, or was changed."""

    code = "redaction_map_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the map of surrogates is none: {reason}; nothing is sent with it. "
            "Take it out of the file to begin with another one"
        )


class RedactionExhausted(RedactionError):
    """No surrogate is left that could stand for a value."""

    code = "redaction_exhausted"

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"every surrogate that was tried for a value of the kind {kind!r} occurs in the chat; "
            "nothing was sent. Go on in a new chat (/new), or change the message"
        )
