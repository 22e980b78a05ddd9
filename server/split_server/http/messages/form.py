"""How answers of Anthropic's API are written: server-sent events with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from split_server.compat.messages.errors import error_body, status_of
from split_server.compat.openai.errors import ApiError
from split_server.http.openai.form import EVENTS, named_event


class MessagesForm:
    """No event follows the last one."""

    stream_type = EVENTS
    end = b""

    def part(self, document: Mapping[str, Any]) -> bytes:
        return named_event(document)

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        return status_of(error), error_body(error)

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        return [error_body(error)]


MESSAGES_FORM = MessagesForm()
