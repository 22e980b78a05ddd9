"""The web app over HTTP: pages, their files under a name that changes with them, and its policy."""

from __future__ import annotations

import json
from collections.abc import Collection

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from split_server.http.split.ranges import Unchanged, select
from split_server.http.web.files import LICENCES, SERVICE_WORKER, WebFile, WebFiles, web_file
from split_server.security.public import PublicPaths
from split_wire.errors import NotFound

LIST_PATH = "/app-files.json"
_PAGES = frozenset({"/", "/pair"})
_FOLDERS = ("/app/", "/icons/")
_FOREVER = "public, max-age=31536000, immutable"
_CHECKED = "no-cache"
# 'self' covers the WebSocket of the same host (CSP Level 3, 6.7.2.8; Safari since 15.4), and no
# browser that is older runs the app. Scripts compile WebAssembly and nothing else at run time; the
# one policy of Trusted Types is that of web/src/common/trusted_types.js.
_BEFORE_CONNECT = (
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
)
_AFTER_CONNECT = (
    "worker-src 'self'",
    "manifest-src 'self'",
    "font-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
)
_NOTHING_SENSED = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "hid",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "serial",
        "usb",
        "xr-spatial-tracking",
    )
)


def policy(adapter_origins: Collection[str] = ()) -> dict[str, str]:
    """The headers of documents, and but for two of every file, because workers go by the headers
    of their own script.

    ``adapter_origins``: hosts of encrypted adapters, the only others that scripts may ask. Nothing
    else comes from another origin, so the page may be isolated, which timers and shared memory ask
    for.
    """
    connect = " ".join(("connect-src 'self'", *adapter_origins))
    return {
        "Content-Security-Policy": "; ".join((*_BEFORE_CONNECT, connect, *_AFTER_CONNECT)),
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": _NOTHING_SENSED,
        "Referrer-Policy": "no-referrer",
    }


POLICY = policy()
# They are for documents (HTML, 7.1.3; Permissions Policy, 5), and some 300 bytes of each answer.
_OF_DOCUMENTS = ("Cross-Origin-Opener-Policy", "Permissions-Policy")
_DOCUMENTS = ("text/html", "image/svg+xml")


class WebApp:
    """Serves ``files``; without them there is no page, and nothing is public that was not.

    ``adapter_origins``: as in :func:`policy`.
    """

    def __init__(self, files: WebFiles | None, adapter_origins: Collection[str] = ()) -> None:
        self._policy = policy(adapter_origins)
        self._files = {} if files is None else {**files.by_path, LIST_PATH: _listed(files)}

    @property
    def public(self) -> PublicPaths:
        """Paths without a token. All below the folders are such, so that an old name is 404."""
        if not self._files:
            return PublicPaths()
        return PublicPaths(frozenset(self._files), _FOLDERS, _PAGES & self._files.keys())

    def routes(self) -> list[Route]:
        """GET and HEAD of every file."""
        if not self._files:
            return []
        plain = [path for path in self._files if not path.startswith(_FOLDERS)]
        below = [f"{folder}{{name:path}}" for folder in _FOLDERS]
        return [Route(path, self._answer, methods=["GET"]) for path in (*plain, *below)]

    async def _answer(self, request: Request) -> Response:
        path: str = request.scope["path"]
        file = self._files.get(path)
        if file is None:
            raise NotFound(path)
        return _response(request, file, self._policy)


def _response(request: Request, file: WebFile, sent_with: dict[str, str]) -> Response:
    coding, content = _chosen(file, request.headers.get("accept-encoding", ""))
    etag = f'"{file.etag}"' if coding is None else f'"{file.etag}-{coding}"'
    if not file.media_type.startswith(_DOCUMENTS):
        sent_with = {name: text for name, text in sent_with.items() if name not in _OF_DOCUMENTS}
    headers = sent_with | {
        "ETag": etag,
        "Vary": "Accept-Encoding",
        "Cache-Control": _FOREVER if file.immutable else _CHECKED,
    }
    known = select(request.method, request.headers, etag, len(file.content))
    if isinstance(known, Unchanged):
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = file.media_type
    if coding is not None:
        headers["Content-Encoding"] = coding
    return Response(content, headers=headers)


def _chosen(file: WebFile, accepted: str) -> tuple[str | None, bytes]:
    """The smallest form that Accept-Encoding gives a weight above zero (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        coding, _, parameter = part.partition(";")
        weights[coding.strip()] = _weight(parameter.strip())
    for coding, content in (("br", file.brotli), ("gzip", file.gzip)):
        if content is not None and weights.get(coding, weights.get("*", 0.0)) > 0:
            return coding, content
    return None, file.content


def _weight(parameter: str) -> float:
    if not parameter:
        return 1.0
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0


def _listed(files: WebFiles) -> WebFile:
    """The list that a service worker keeps so that the app opens without the server."""
    left_out = ("/pair", f"/{SERVICE_WORKER}", f"/{LICENCES}")
    names = [path for path in files.by_path if path not in left_out]
    document = {"build": files.build, "files": names}
    return web_file(json.dumps(document).encode(), "application/json")
