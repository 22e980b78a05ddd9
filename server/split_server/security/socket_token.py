"""A bearer token in the handshake of a WebSocket that a browser opens.

Browsers let no page set ``Authorization`` on a WebSocket (WHATWG WebSockets, 3.1), so the token
travels as a second subprotocol. Neither the answer nor anything behind authentication holds it.
"""

from __future__ import annotations

import base64
import re

from starlette.types import Scope

NAME = "split.bearer"
_PREFIX = f"{NAME}."
_HEADER = b"sec-websocket-protocol"
# 512 characters, the longest token, in base64.
_ENCODED = re.compile(r"[A-Za-z0-9_-]{1,683}")


def take_tokens(scope: Scope) -> list[str]:
    """The tokens among the subprotocols that are offered; of each, ``split.bearer`` alone stays
    there and in the header.

    The empty one, which is nobody's, stands for what is not the unpadded base64url (RFC 4648, 5) of
    printable ASCII.
    """
    offered: list[str] = scope["subprotocols"]
    given = [name for name in offered if name.startswith(_PREFIX)]
    if given:
        left = [NAME if name in given else name for name in offered]
        others = [(name, value) for name, value in scope["headers"] if name.lower() != _HEADER]
        scope["headers"] = [*others, (_HEADER, ", ".join(left).encode("latin-1", "replace"))]
        scope["subprotocols"] = left
    return [_decoded(name.removeprefix(_PREFIX)) for name in given]


def _decoded(text: str) -> str:
    # Without these checks the decoder skips what is no base64, and several texts give one token.
    if not _ENCODED.fullmatch(text) or len(text) % 4 == 1:
        return ""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        return ""
    token = data.decode("latin-1")
    return token if token.isascii() and token.isprintable() else ""
