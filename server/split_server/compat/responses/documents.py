"""The documents of a response: itself, and the items of its output."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from split_client.tools.call import ToolCall
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage

# What a token that is only a part of a character looks like.
_PART = "\ufffd"
# Of 128 random bits, since whoever has one and the token reads what is kept under it.
_ID_BYTES = 16


def new_response_id() -> str:
    """An id that nobody guesses."""
    return "resp_" + secrets.token_hex(_ID_BYTES)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """``created``: Unix time; ``stored``: whether the response is kept; ``echo``: fields of its
    request.
    """

    id: str
    created: int
    model: str
    stored: bool
    echo: dict[str, Any]

    def document(
        self,
        status: str,
        output: Sequence[dict[str, Any]] = (),
        usage: Usage | None = None,
        *,
        finished: int | None = None,
        error: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The response at this point; ``finished``: Unix time of its end."""
        cut = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "completed_at": finished if status == "completed" else None,
            "status": status,
            "background": False,
            "error": error,
            "incomplete_details": cut,
            "model": self.model,
            "output": list(output),
            "reasoning": {"effort": None, "summary": None},
            "service_tier": "default",
            "store": self.stored,
            "truncation": "disabled",
            "usage": None if usage is None else usage_document(usage),
        } | self.echo


def usage_document(usage: Usage) -> dict[str, Any]:
    """Counts by the names of this API."""
    told = usage.document()
    cached = told["prompt_tokens_details"]["cached_tokens"]
    return {
        "input_tokens": told["prompt_tokens"],
        "input_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": 0,
            **usage.approximate(),
        },
        "output_tokens": told["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": told["total_tokens"],
    }


def message_item(id_: str, status: str, content: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A message of the assistant."""
    return {
        "id": id_,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": list(content),
    }


def text_part(text: str, tokens: Sequence[ScoredToken] = ()) -> dict[str, Any]:
    """The text of a message."""
    return {
        "type": "output_text",
        "annotations": [],
        "logprobs": scores(tokens),
        "text": text,
    }


def call_item(id_: str, status: str, call: ToolCall, arguments: str) -> dict[str, Any]:
    """A call of a tool, with as much of its arguments as there is."""
    return {
        "id": id_,
        "type": "function_call",
        "status": status,
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }


def scores(tokens: Sequence[ScoredToken]) -> list[dict[str, Any]]:
    """Tokens with their logprobs."""
    return [
        _scored(token.text, token.logprob)
        | {"top_logprobs": [_scored(text, logprob) for text, logprob in token.top]}
        for token in tokens
    ]


def _scored(text: str, logprob: float | None) -> dict[str, Any]:
    encoded = [] if _PART in text else list(text.encode())
    return {"token": text, "logprob": logprob, "bytes": encoded}
