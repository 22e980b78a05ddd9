"""How answers of the Responses API are written: server-sent events with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from split_server.compat.openai.errors import ApiError
from split_server.compat.responses.answer import ResponsesAnswer
from split_server.http.openai.form import EVENTS, named_event, of_input


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
        return error.status, of_input(error).body()

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        if self.answer is not None:
            return self.answer.failed(error)
        told = {"code": error.code, "message": error.message, "param": error.param}
        return [{"type": "error", "sequence_number": 0, **told}]
