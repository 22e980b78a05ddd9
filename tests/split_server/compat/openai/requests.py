"""Requests as clients send them, parsed."""

from __future__ import annotations

import json
from typing import Any

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.openai.chat_request import ChatRequest, parse_chat_request
from split_server.compat.openai.completion_request import (
    CompletionRequest,
    parse_completion_request,
)
from split_server.compat.openai.fields import Fields, parse_body
from split_server.compat.openai.model import ServedModel

MAKERS = SamplingParams(temperature=0.7, top_k=20, top_p=0.8, repetition_penalty=1.1)
SERVED = ServedModel("maker/tiny", 1_700_000_000, "fp_1", 300, 512, MAKERS)
HELLO = [{"role": "user", "content": "Hello"}]


def fields(**values: Any) -> Fields:
    """The body that has these values."""
    return parse_body(json.dumps(values).encode())


def chat(**values: Any) -> ChatRequest:
    """A chat request; messages are there."""
    return parse_chat_request(fields(**({"messages": HELLO} | values)), SERVED)


def completion(**values: Any) -> CompletionRequest:
    """A completion request; a prompt is there."""
    return parse_completion_request(fields(**({"prompt": "Hello"} | values)), SERVED)


def tool(name: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """A tool as clients send it."""
    function: dict[str, Any] = {"name": name, "description": f"Does {name}."}
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}
