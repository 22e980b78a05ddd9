"""JSON-RPC messages, as far as a client of tools needs them."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from split_client.harmless import one_line
from split_client.tools.errors import McpError

MAX_MESSAGE: Final = 8 << 20  # bytes
# A server that talks of other things must not be listened to for ever.
MAX_OTHERS: Final = 1000
_NO_METHOD: Final = -32601

Message = dict[str, Any]


class Channel(Protocol):
    """The way to one server; it is used by one thread."""

    def ask(self, message: Message, seconds: float) -> Message:
        """The answer to a request: the message with its ``id``. Raises McpError."""

    def tell(self, message: Message) -> None:
        """Send what has no answer. Raises McpError."""

    def close(self) -> None:
        """End it."""


def request(number: int, method: str, params: Message) -> Message:
    """A message that is answered."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str) -> Message:
    """A message that is not."""
    return {"jsonrpc": "2.0", "method": method}


def encoded(message: Message) -> bytes:
    """On one line."""
    return json.dumps(message, separators=(",", ":")).encode()


def decoded(server: str, data: bytes | str) -> Message:
    """Raises McpError."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise McpError(server, "it sent what is not JSON") from None
    if not isinstance(message, dict):
        raise McpError(server, "it sent a message that is no object")
    return message


def answers(message: Message, number: object) -> bool:
    """Whether ``message`` is the answer to the request of that number."""
    return "method" not in message and message.get("id") == number


def reply_to(message: Message) -> Message | None:
    """What a request of the server's gets; None for what needs no answer."""
    if "method" not in message or message.get("id") is None:
        return None
    head: Message = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return head | {"result": {}}
    return head | {"error": {"code": _NO_METHOD, "message": "this client only calls tools"}}


def result_of(server: str, message: Message) -> Message:
    """The result in an answer. Raises McpError."""
    error = message.get("error")
    if isinstance(error, dict):
        raise McpError(server, one_line(str(error.get("message", "it failed")), 300))
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpError(server, "its answer has no result")
    return result
