"""How answers of Ollama's API are written: lines of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from split_server.compat.openai.errors import ApiError
from split_server.http.openai.form import encoded, of_input


class OllamaForm:
    """No line follows the last one."""

    stream_type = "application/x-ndjson"
    end = b""

    def part(self, document: Mapping[str, Any]) -> bytes:
        return encoded(document) + b"\n"

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        return error.status, _body(error)

    def failure(self, error: ApiError) -> Sequence[Mapping[str, Any]]:
        return [_body(error)]


def _body(error: ApiError) -> dict[str, Any]:
    """``error`` is a text in this API; what programs compare is beside it."""
    own = {"error": error.message, "code": error.code, "param": error.param}
    return own | dict(error.details)


class InputForm(OllamaForm):
    """Of requests whose texts are in ``input``."""

    def refusal(self, error: ApiError) -> tuple[int, Mapping[str, Any]]:
        return super().refusal(of_input(error))


OLLAMA_FORM = OllamaForm()
INPUT_FORM = InputForm()
