"""Paths that clients of the text APIs ask for where their base URL is not the one they need."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

from split_server.security.error_forms import OLLAMA_CLIENT

_VERSION: Final = "/v1"
# Below that in OpenAI's and Anthropic's APIs.
_BELOW: Final = (
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/messages",
    "/models",
    "/responses",
)


def named(scope: Scope) -> str:
    """The path of a request that no route has, with what may be wrong with it."""
    path: str = scope["path"]
    if OLLAMA_CLIENT in scope and path.startswith(f"{_VERSION}/"):
        return "this path (here is Ollama's API alone; others are at the server's own address)"
    if path.startswith(_BELOW):
        return f"this path (the APIs have {_VERSION} before it: let the base URL end with that)"
    if path.startswith(tuple(f"{_VERSION}{_VERSION}{below}" for below in _BELOW)):
        return f"this path ({_VERSION} is in it twice: leave it out of the base URL)"
    return "this path"
