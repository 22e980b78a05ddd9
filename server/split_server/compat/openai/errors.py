"""Errors in OpenAI's shape: ``{"error": {"message", "type", "param", "code"}}``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from split_client.errors import (
    ClientError,
    PromptEmpty,
    PromptTooLong,
    SessionUnstable,
    TemplateFailed,
    TemplateMissing,
    TemplateTooCostly,
    TextTooCostly,
)
from split_client.generation.errors import (
    InvalidSamplingParameter,
    NothingAllowed,
    TokenIdOutOfRange,
)
from split_client.grammar.errors import GrammarInvalid
from split_wire.errors import (
    CacheFull,
    ContextOverflow,
    FrameTooLarge,
    Overloaded,
    SplitError,
    UnknownModel,
)

_INVALID = "invalid_request_error"
_FAILED = "server_error"
_TOO_LARGE = "prompt_too_large"
_RETRY_SECONDS = 2.0
# What a request can cause, and the parameter that is at fault.
_OF_REQUEST: dict[type[ClientError], str | None] = {
    PromptEmpty: "prompt",
    TokenIdOutOfRange: "prompt",
    TemplateMissing: "messages",
    TemplateFailed: "messages",
    TemplateTooCostly: "messages",
    NothingAllowed: "logit_bias",
}


class OpenAIError(Exception):
    """A request that is refused; ``param`` names what is wrong with it."""

    code = "invalid_value"
    status = 400

    def __init__(self, message: str, param: str | None = None) -> None:
        self.param = param
        super().__init__(message)


class InvalidParameter(OpenAIError):
    """A parameter of the wrong type or outside its range."""

    def __init__(self, param: str, wanted: str) -> None:
        super().__init__(f"{param} must be {wanted}", param)


class UnsupportedParameter(OpenAIError):
    """A part of OpenAI's API that is not here."""

    code = "unsupported_parameter"

    def __init__(self, param: str, reason: str) -> None:
        super().__init__(f"{param} is not supported here: {reason}", param)


class FormRefused(OpenAIError):
    """A form of the reply that cannot be enforced."""

    def __init__(self, error: GrammarInvalid, param: str) -> None:
        # What a schema is refused for is in the message, as of every parameter.
        schema = param.endswith(("schema", "tools", "json"))
        self.code = GrammarInvalid.code if schema else error.code
        super().__init__(str(error), param)


class InvalidBody(OpenAIError):
    """A body that is not a JSON object."""

    code = "invalid_json"


class ModelNotFound(OpenAIError):
    """Another model than the one that is served."""

    code = "model_not_found"
    status = 404

    def __init__(self, name: str, served: str) -> None:
        super().__init__(
            f"the model {name[:100]!r} is not served here; ask for {served!r}", "model"
        )


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error as it is sent; ``retry_after`` in seconds, ``details`` are further fields."""

    status: int
    message: str
    type: str
    code: str
    param: str | None = None
    retry_after: float | None = None
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def body(self) -> dict[str, Any]:
        """The JSON of it, as an answer or as an event of a stream."""
        own = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": own | dict(self.details)}


def api_error(error: OpenAIError | SplitError | ClientError, prompt_tokens: int) -> ApiError:
    """``error`` as it is told; ``prompt_tokens``: of the request's prompt, 0 if that is unknown."""
    message = str(error)
    match error:
        case OpenAIError():
            return ApiError(error.status, message, _INVALID, error.code, error.param)
        case PromptTooLong(tokens=tokens, limit=limit):
            return _too_large(message, _sizes(tokens, limit))
        case TextTooCostly():
            return ApiError(413, message, _INVALID, error.code, "prompt")
        case CacheFull(retry_after=float(seconds)):
            # Others hold what is missing, for now.
            return ApiError(error.status, message, _FAILED, error.code, retry_after=seconds)
        case CacheFull():
            # What the reply needed beyond its prompt counts like a longer prompt.
            tokens = prompt_tokens or error.positions
            return _too_large(message, _sizes(tokens, error.fits, error.needed, error.free))
        case ContextOverflow():
            return _too_large(message, _sizes(prompt_tokens, None))
        case FrameTooLarge(size=size, limit=limit):
            message = f"a body of {size} bytes exceeds the limit of {limit} bytes"
            return ApiError(413, message, _INVALID, "request_too_large")
        case InvalidSamplingParameter():
            return ApiError(400, message, _INVALID, "invalid_value", error.field)
        case SessionUnstable():
            return ApiError(503, message, _FAILED, Overloaded.code, retry_after=_RETRY_SECONDS)
        case UnknownModel():
            return ApiError(error.status, message, _INVALID, ModelNotFound.code, "model")
        case SplitError():
            kind = _INVALID if error.status < 500 else _FAILED
            return ApiError(error.status, message, kind, error.code, retry_after=_delay(error))
    if type(error) in _OF_REQUEST:
        return ApiError(400, message, _INVALID, error.code, _OF_REQUEST[type(error)])
    return ApiError(500, message, _FAILED, error.code)


def _delay(error: SplitError) -> float | None:
    if error.retry_after is None and error.status == 503:
        return 1.0
    return error.retry_after


def _too_large(message: str, sizes: Mapping[str, int | None]) -> ApiError:
    return ApiError(413, message, _INVALID, _TOO_LARGE, details=sizes)


def _sizes(
    tokens: int, fits: int | None, needed: int | None = None, free: int | None = None
) -> dict[str, int | None]:
    """Tokens, and bytes of memory where memory is what binds."""
    return {
        "prompt_tokens": tokens,
        "suggested_tokens": fits,
        "predicted_bytes": needed,
        "free_bytes": free,
    }
