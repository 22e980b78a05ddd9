"""Failures as a Kobold client is told them: ``error_code``, a message, a status, fields.

::

    KoboldError
    ├── InvalidRequest      INVALID_REQUEST     not a JSON object, or nothing to continue
    ├── InvalidParameter    INVALID_PARAMETER   a field of another type or out of its range
    ├── UnsupportedField    INVALID_PARAMETER   a field that would change the reply, and is not here
    ├── InvalidToken        INVALID_TOKEN       a token id outside the vocabulary
    ├── Busy                BUSY                the socket generates already
    ├── TextTooLong         TEXT_TOO_LONG       a text that is too long to be tokenized
    └── AnswerTooLarge      ATTENTION_TOO_LARGE more attention than one JSON document may carry

:func:`kobold_error` turns every other error of the server into one of the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from split_client.errors import (
    ClientError,
    PromptEmpty,
    PromptTooLong,
    SessionUnstable,
    TextTooCostly,
)
from split_client.generation.errors import (
    InvalidSamplingParameter,
    NothingAllowed,
    TokenIdOutOfRange,
)
from split_wire.errors import (
    AttentionTooLarge,
    CacheFull,
    ContextOverflow,
    InternalError,
    Overloaded,
    SplitError,
    TooManySessions,
)

_MB = 1 << 20
_RETRY_SECONDS = 2.0


class KoboldError(SplitError):
    """``code`` is what clients compare as ``error_code``; ``fields`` stand beside it."""

    code = "INTERNAL"

    def __init__(self, message: str, **fields: Any) -> None:
        self.fields = fields
        super().__init__(message)

    def document(self) -> dict[str, Any]:
        """The error as it is sent, over HTTP and as an event."""
        return {"type": "error", "error": str(self), "error_code": self.code, **self.fields}


class InvalidRequest(KoboldError):
    """A body or message that cannot be read as a request."""

    code = "INVALID_REQUEST"


class InvalidParameter(KoboldError):
    """A field of another type than it has, or outside its range."""

    code = "INVALID_PARAMETER"

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(f"{name!r} must be {allowed}", parameter=name)


class UnsupportedField(KoboldError):
    """A field of Kobold's servers that would change the reply, and is not here."""

    code = "INVALID_PARAMETER"

    def __init__(self, name: str, advice: str) -> None:
        super().__init__(f"{name!r} is not supported here: {advice}", parameter=name)


class InvalidToken(KoboldError):
    """A token id outside the vocabulary."""

    code = "INVALID_TOKEN"

    def __init__(self, token: int, vocab_size: int) -> None:
        # Thousands of digits say no more than twenty.
        shown = str(token) if abs(token) < 10**20 else "of more than twenty digits"
        super().__init__(f"Token ID {shown} not in vocabulary (vocab_size={vocab_size})")


class Busy(KoboldError):
    """A second request on a socket that generates."""

    code = "BUSY"
    status = 409

    def __init__(self) -> None:
        super().__init__("this socket generates already; cancel, wait for 'done', or open another")


class TextTooLong(KoboldError):
    """A text that is only to be counted or tokenized, or the answer to it (sizes in bytes)."""

    code = "TEXT_TOO_LONG"
    status = 413

    def __init__(self, size: int, limit: int, of: str = "of text") -> None:
        super().__init__(
            f"{size} bytes {of} exceed the limit of {limit}; send the text in several parts"
        )


class AnswerTooLarge(KoboldError):
    """More attention than one JSON document may carry (sizes in bytes)."""

    code = "ATTENTION_TOO_LARGE"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"{size} bytes of attention in one answer exceed the limit of {limit}; "
            "ask for fewer tokens or a smaller attention_format, or use a socket"
        )


def kobold_error(error: SplitError | ClientError, used: Callable[[], int]) -> KoboldError:
    """``error`` as a Kobold client is told it; ``used``: bytes of memory that this process holds,
    asked for only where they are told.
    """
    match error:
        case KoboldError():
            return error
        case CacheFull(retry_after=float()):
            return _overloaded(error)
        case CacheFull():
            return _out_of_memory(error, used())
        case PromptTooLong():
            fields = {"context_length": error.tokens, "max_context_length": error.limit}
            return _named("CONTEXT_TOO_LONG", 413, error, **fields)
        case TextTooCostly():
            return _named("TEXT_TOO_LONG", 413, error)
        case ContextOverflow():
            return _named("CONTEXT_TOO_LONG", 413, error)
        case TokenIdOutOfRange():
            return InvalidToken(error.token_id, error.rows)
        case InvalidSamplingParameter():
            return _named("INVALID_PARAMETER", 400, error, parameter=error.field)
        case NothingAllowed():
            return _named("INVALID_PARAMETER", 400, error, parameter="banned_tokens")
        case PromptEmpty():
            return InvalidRequest("there is nothing to continue: give 'input_ids' or 'prompt'")
        case AttentionTooLarge():
            return _named("ATTENTION_TOO_LARGE", 413, error)
        case TooManySessions() | Overloaded() | SessionUnstable():
            return _overloaded(error)
        case InternalError():
            return _named("INTERNAL", 500, error)
        case SplitError():
            return _named(error.code.upper(), error.status, error)
    return _named("INTERNAL", 500, error)


def _named(code: str, status: int, error: Exception, **fields: Any) -> KoboldError:
    told = KoboldError(str(error), **fields)
    told.code, told.status = code, status
    told.retryable = getattr(error, "retryable", False)
    told.retry_after = getattr(error, "retry_after", None)
    return told


def _overloaded(error: SplitError | ClientError) -> KoboldError:
    told = _named("OVERLOADED", 503, error)
    told.retry_after = told.retry_after or _RETRY_SECONDS
    return told


def _out_of_memory(error: CacheFull, used: int) -> KoboldError:
    """The fields of the specification: total is what this process holds and may still take."""
    return _named(
        "OOM",
        413,
        error,
        context_length=error.positions,
        vram_used_mb=used // _MB,
        vram_total_mb=(used + error.free) // _MB,
        needed_mb=-(-error.needed // _MB),
        fits_context_length=error.fits,
    )
