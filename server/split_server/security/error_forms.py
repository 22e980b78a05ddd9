"""How clients of each API read an error that comes before its routes are reached."""

from __future__ import annotations

from typing import Any, Final

from starlette.types import Scope

from split_server.compat.messages.errors import type_of
from split_wire.errors import SplitError

# In the scope of a request that came where only Ollama's clients come.
OLLAMA_CLIENT: Final = "split.ollama_client"
_OLLAMAS: Final = "/api/"
_OTHERS: Final = ("/api/v1/", "/api/extra/")
_ANTHROPICS: Final = ("/v1/messages", "/v1/messages/")


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
        return {"type": "error", "error": {"type": type_of(error.status)} | told}
    return {"error": told}
