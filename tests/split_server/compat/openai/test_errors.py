from __future__ import annotations

import pytest

from split_client.errors import (
    PromptEmpty,
    PromptTooLong,
    SessionUnstable,
    TemplateFailed,
    TemplateMissing,
)
from split_client.generation.errors import (
    InvalidSamplingParameter,
    NonFiniteLogits,
    NothingAllowed,
    TokenIdOutOfRange,
)
from split_server.compat.openai.errors import ModelNotFound, api_error
from split_wire.errors import (
    CacheFull,
    ContextOverflow,
    FrameTooLarge,
    HiddenOverflow,
    Overloaded,
    ShuttingDown,
    TooManySessions,
)


@pytest.mark.parametrize(
    ("error", "status", "code", "kind"),
    [
        (ModelNotFound("x", "y"), 404, "model_not_found", "invalid_request_error"),
        (PromptEmpty(), 400, "prompt_empty", "invalid_request_error"),
        (TokenIdOutOfRange(9, 3), 400, "token_id_out_of_range", "invalid_request_error"),
        (TemplateMissing(), 400, "template_missing", "invalid_request_error"),
        (TemplateFailed("roles"), 400, "template_failed", "invalid_request_error"),
        (NothingAllowed(), 400, "nothing_allowed", "invalid_request_error"),
        (PromptTooLong(9, 8), 413, "prompt_too_large", "invalid_request_error"),
        (ContextOverflow(9, 8), 413, "prompt_too_large", "invalid_request_error"),
        (CacheFull(9, 800, 700, 7), 413, "prompt_too_large", "invalid_request_error"),
        (FrameTooLarge(9, 8), 413, "request_too_large", "invalid_request_error"),
        (TooManySessions(3), 429, "too_many_sessions", "invalid_request_error"),
        (Overloaded("full", 2.0), 503, "overloaded", "server_error"),
        (SessionUnstable(), 503, "overloaded", "server_error"),
        (ShuttingDown(), 503, "shutting_down", "server_error"),
        (HiddenOverflow(), 500, "hidden_overflow", "server_error"),
        (NonFiniteLogits(3), 500, "non_finite_logits", "server_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_every_error_has_its_status_and_openais_shape(
    error: Exception, status: int, code: str, kind: str
) -> None:
    told = api_error(error, 0)  # type: ignore[arg-type]
    body = told.body()["error"]
    assert told.status == status
    assert (body["code"], body["type"]) == (code, kind)
    assert body["message"]
    assert "param" in body


def test_a_full_memory_tells_what_was_needed_and_what_would_fit() -> None:
    body = api_error(CacheFull(900, 5000, 700, 120), 880).body()["error"]
    assert body["prompt_tokens"] == 880
    assert body["predicted_bytes"] == 5000
    assert body["free_bytes"] == 700
    assert body["suggested_tokens"] == 120


@pytest.mark.parametrize(("error", "delay"), [(Overloaded("full", 2.5), 2.5), (ShuttingDown(), 1)])
def test_what_passes_by_itself_says_when(error: Overloaded | ShuttingDown, delay: float) -> None:
    assert api_error(error, 0).retry_after == delay


def test_a_parameter_of_the_sampler_is_named() -> None:
    error = InvalidSamplingParameter("top_p", 3, "below 1")
    assert api_error(error, 0).body()["error"]["param"] == "top_p"
