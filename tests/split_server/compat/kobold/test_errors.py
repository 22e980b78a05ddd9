"""The words in which clients are told of every kind of failure."""

from __future__ import annotations

import pytest

from split_client.errors import ClientError, PromptEmpty, PromptTooLong, SessionUnstable
from split_client.generation.errors import (
    InvalidSamplingParameter,
    NothingAllowed,
    TokenIdOutOfRange,
)
from split_server.compat.kobold.errors import (
    Busy,
    InvalidParameter,
    InvalidToken,
    KoboldError,
    kobold_error,
)
from split_wire.errors import (
    AttentionTooLarge,
    CacheFull,
    ContextOverflow,
    FrameTooLarge,
    InternalError,
    Overloaded,
    ShuttingDown,
    SplitError,
    TooManySessions,
)

MB = 1 << 20


def told(error: SplitError | ClientError) -> KoboldError:
    return kobold_error(error, lambda: 700 * MB)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (InvalidToken(9, 5), "INVALID_TOKEN", 400),
        (TokenIdOutOfRange(9, 5), "INVALID_TOKEN", 400),
        (InvalidParameter("top_k", "a number"), "INVALID_PARAMETER", 400),
        (InvalidSamplingParameter("top_k", 1.5, "a whole number"), "INVALID_PARAMETER", 400),
        (NothingAllowed(), "INVALID_PARAMETER", 400),
        (PromptEmpty(), "INVALID_REQUEST", 400),
        (SessionUnstable(), "OVERLOADED", 503),
        (PromptTooLong(600, 512), "CONTEXT_TOO_LONG", 413),
        (ContextOverflow(600, 512), "CONTEXT_TOO_LONG", 413),
        (CacheFull(600, 10 * MB, 4 * MB, 50), "OOM", 413),
        (AttentionTooLarge(9, 5), "ATTENTION_TOO_LARGE", 413),
        (Busy(), "BUSY", 409),
        (Overloaded("full"), "OVERLOADED", 503),
        (TooManySessions(3), "OVERLOADED", 503),
        (ShuttingDown(), "SHUTTING_DOWN", 503),
        (FrameTooLarge(9, 5), "FRAME_TOO_LARGE", 413),
        (InternalError("abc"), "INTERNAL", 500),
        (ClientError("something else"), "INTERNAL", 500),
    ],
)
def test_every_failure_has_a_code_a_status_and_words(
    error: SplitError | ClientError, code: str, status: int
) -> None:
    known = told(error)
    document = known.document()
    assert (known.code, known.status) == (document["error_code"], status) == (code, status)
    assert document["type"] == "error"
    assert document["error"] == str(known) != ""


def test_out_of_memory_says_how_much_there_is_and_what_would_fit() -> None:
    document = told(CacheFull(600, 10 * MB, 4 * MB, 50)).document()
    assert document["context_length"] == 600
    assert (document["vram_used_mb"], document["vram_total_mb"]) == (700, 704)
    assert (document["needed_mb"], document["fits_context_length"]) == (10, 50)


def test_a_context_that_is_too_long_says_by_how_much() -> None:
    document = told(PromptTooLong(600, 512)).document()
    assert (document["context_length"], document["max_context_length"]) == (600, 512)


def test_what_may_work_later_says_when() -> None:
    assert told(Overloaded("full", 3.0)).retry_after == 3.0
    assert told(TooManySessions(3)).retry_after is not None
    assert told(PromptEmpty()).retry_after is None


def test_a_number_of_thousands_of_digits_is_not_repeated() -> None:
    assert len(str(InvalidToken(10**4000, 5))) < 100
