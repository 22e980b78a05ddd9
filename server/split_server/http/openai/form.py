"""The form of an answer: how its parts and its errors are written in one API or another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from split_server.compat.openai.errors import ApiError, UnsupportedParameter

EVENTS = "text/event-stream"
_DONE = b"data: [DONE]\n\n"
# Where errors of requests find the texts.
_TEXTS = ("messages", "prompt")


class Form(Protocol):
    """``stream_type``: the content type of a stream; ``end``: what its last bytes are."""

    @property
    def stream_type(self) -> str: ...
    @property
    def end(self) -> bytes: ...

    def part(self, document: Mapping[str, Any]) -> bytes:
        """One part of a stream."""

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        """Status and body of an answer that is an error."""

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        """The last parts of a stream that fails."""


class OpenAIForm:
    """Server-sent events without names (WHATWG HTML, 9.2)."""

    stream_type = EVENTS
    end = _DONE

    def part(self, document: Mapping[str, Any]) -> bytes:
        return b"data: %b\n\n" % encoded(document)

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        return error.status, error.body()

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        return [error.body()]


def named_event(document: Mapping[str, Any]) -> bytes:
    """A server-sent event whose name is the ``type`` of ``document``."""
    return b"event: %b\ndata: %b\n\n" % (str(document["type"]).encode(), encoded(document))


def encoded(document: Mapping[str, Any]) -> bytes:
    """JSON without line ends."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )


def of_input(error: ApiError) -> ApiError:
    """``error`` where what errors of chats and texts are about is the field ``input``.

    A field that is refused by its name was sent by that name.
    """
    translated = error.param in _TEXTS and error.code != UnsupportedParameter.code
    return replace(error, param="input") if translated else error


class InputForm(OpenAIForm):
    """Of requests whose texts are in ``input``."""

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        return super().refusal(of_input(error))


OPENAI_FORM = OpenAIForm()
INPUT_FORM = InputForm()
