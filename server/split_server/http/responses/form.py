"""How answers of the Responses API are written: server-sent events with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from split_server.compat.openai.errors import ApiError
from split_server.compat.responses.answer import ResponsesAnswer
from split_server.http.openai.form import EVENTS, named_event

# What the errors of chats call the input.
_INPUT = ("messages", "prompt")


class ResponsesForm:
    """Of one answer, which tells of its failure itself once it is there. No event follows the last
    one.
    """

    stream_type = EVENTS
    end = b""

    def __init__(self) -> None:
        self.answer: ResponsesAnswer | None = None

    def part(self, document: Mapping[str, Any]) -> bytes:
        return named_event(document)

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        named = replace(error, param="input") if error.param in _INPUT else error
        return error.status, named.body()

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        if self.answer is not None:
            return self.answer.failed(error)
        told = {"code": error.code, "message": error.message, "param": error.param}
        return [{"type": "error", "sequence_number": 0, **told}]
