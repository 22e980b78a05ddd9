"""Refuses what a browser sends on behalf of a page that is neither ours nor allowed.

A request without Origin is refused too when the browser says (``Sec-Fetch-Site``, W3C Fetch
Metadata) that another site caused it: images, scripts and links carry no Origin. Links to pages
that hold nothing of a user's may be followed, in a window of their own alone.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.authority import origin_at, parse_origin
from split_server.security.refusal import refuse
from split_wire.errors import ForbiddenOrigin

_FOREIGN_SITES = ("cross-site", "same-site")
_SCHEMES = {"ws": "http", "wss": "https"}
_METHODS = ("GET", "HEAD", "POST", "DELETE")
# The client libraries of OpenAI and Anthropic say what they are in headers of their own.
_LIBRARY_HEADERS = (
    "Anthropic-Beta",
    "Anthropic-Dangerous-Direct-Browser-Access",
    "Anthropic-Version",
    "X-Api-Key",
    "X-Stainless-Arch",
    "X-Stainless-Async",
    "X-Stainless-Helper",
    "X-Stainless-Helper-Method",
    "X-Stainless-Lang",
    "X-Stainless-OS",
    "X-Stainless-Package-Version",
    "X-Stainless-Retry-Count",
    "X-Stainless-Runtime",
    "X-Stainless-Runtime-Version",
    "X-Stainless-Timeout",
)
_REQUEST_HEADERS = (
    "Authorization",
    "Content-Type",
    "If-None-Match",
    "If-Range",
    "Range",
    *_LIBRARY_HEADERS,
)
_ANSWER_HEADERS = (
    "Accept-Ranges",
    "Content-Range",
    "ETag",
    "Retry-After",
    "X-Lossy",
    "X-Packed",
)


class OriginGuard:
    """Pure ASGI: answers 403 to foreign pages, CORS (W3C Fetch, 3.3) to allowed ones.

    ``allowed``: origins in their canonical spelling; ``pages``: paths that links of any site may
    lead to. The inner application's errors carry the CORS headers as well, so that an allowed page
    can read them.
    """

    def __init__(self, app: ASGIApp, allowed: Collection[str], pages: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._pages = frozenset(pages)
        self._same_origin = app
        self._cross_origin = CORSMiddleware(
            app,
            allow_origins=self._allowed,
            allow_methods=_METHODS,
            allow_headers=_REQUEST_HEADERS,
            expose_headers=_ANSWER_HEADERS,
            allow_private_network=True,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._same_origin(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if len(origins) == 1 and origins[0] in self._allowed:
            await self._cross_origin(scope, receive, send)
        elif _is_own(scope, headers, origins) or self._is_visit(scope, headers, origins):
            await self._same_origin(scope, receive, send)
        else:
            await refuse(scope, receive, send, ForbiddenOrigin())

    def _is_visit(self, scope: Scope, headers: Headers, origins: list[str]) -> bool:
        """Whether a window of the browser goes to a page, as by a link; a frame does not."""
        return (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and scope["path"] in self._pages
            and not origins
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )


def _is_own(scope: Scope, headers: Headers, origins: list[str]) -> bool:
    if not origins:
        return headers.get("sec-fetch-site") not in _FOREIGN_SITES
    given = parse_origin(origins[0]) if len(origins) == 1 else None
    given_scheme: str = scope["scheme"]
    scheme = _SCHEMES.get(given_scheme, given_scheme)
    return given is not None and given == origin_at(scheme, headers.get("host") or "")
