"""The two forms of a reply on a WebSocket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from split_server.compat.kobold.attention import binary_rows
from split_server.compat.kobold.documents import Documents
from split_server.compat.kobold.request import DEFAULT_TOP_LOGPROBS
from split_server.compat.kobold.running import Token

Frame: TypeAlias = str | memoryview
Encode: TypeAlias = Callable[[Documents, Token], list[Frame]]


@dataclass(frozen=True, slots=True)
class Form:
    """``attention`` and ``logprobs``: what is sent where a request does not say;
    ``closes``: an error ends the socket.
    """

    encode: Encode
    attention: bool
    logprobs: int | None
    closes: bool


def _json(documents: Documents, item: Token) -> list[Frame]:
    return [documents.token(item).decode()]


def _binary(documents: Documents, item: Token) -> list[Frame]:
    text = documents.flat_token(item).decode()
    options, weights = documents.request.attention, item.event.attention
    if options is None or weights is None:
        return [text]
    return [text, binary_rows(options, weights)]


JSON_FORM = Form(_json, attention=False, logprobs=DEFAULT_TOP_LOGPROBS, closes=False)
BINARY_FORM = Form(_binary, attention=True, logprobs=None, closes=True)
