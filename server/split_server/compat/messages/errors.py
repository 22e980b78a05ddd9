"""Errors in Anthropic's form: ``{"type": "error", "error": {"type", "message"}}``."""

from __future__ import annotations

from typing import Any, Final

from split_server.compat.openai.errors import ApiError

_FULL: Final = 503
_OVERLOADED: Final = 529
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    _FULL: "overloaded_error",
}


def status_of(error: ApiError) -> int:
    """The status of this API for ``error``: 529 where the server is full."""
    return _OVERLOADED if error.status == _FULL else error.status


def type_of(status: int) -> str:
    """What this API calls errors of ``status``."""
    general = "invalid_request_error" if status < 500 else "api_error"
    return _TYPES.get(status, general)


def error_body(error: ApiError) -> dict[str, Any]:
    """The JSON of ``error``, as an answer or as an event; ``code`` and ``param`` are beside what
    the API has.
    """
    own = {"type": type_of(error.status), "message": error.message}
    more = {"code": error.code, "param": error.param} | dict(error.details)
    return {"type": "error", "error": own | more}
