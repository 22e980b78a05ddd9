"""How clients of each API read an error that comes before its routes are reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.types import Scope

from split_wire.errors import SplitError

# In the scope of a request that came where only Ollama's clients come.
OLLAMA_CLIENT: Final = "split.ollama_client"
_OLLAMAS: Final = "/api/"
_OTHERS: Final = ("/api/v1/", "/api/extra/")
_ANTHROPICS: Final = ("/v1/messages", "/v1/messages/")
# As that API has it; others are a fault of the request.
_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
}


def error_body(scope: Scope, error: SplitError) -> dict[str, Any]:
    """``{"error": {"code", "message", "retryable"}}``; in Ollama's API ``error`` is the message and
    the rest beside it, in Anthropic's both have a ``type``.
    """
    path: str = scope["path"]
    more = {"code": error.code, "retryable": error.retryable}
    if OLLAMA_CLIENT in scope or (path.startswith(_OLLAMAS) and not path.startswith(_OTHERS)):
        return {"error": str(error)} | more
    told = {"message": str(error)} | more
    if path == _ANTHROPICS[0] or path.startswith(_ANTHROPICS[1]):
        kind = _TYPES.get(error.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind} | told}
    return {"error": told}
