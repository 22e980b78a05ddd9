"""Errors in JSON over HTTP: ``{"error": {"code", "message", "retryable"}}``."""

from __future__ import annotations

import json

from split_client.errors import ServerRefused

_MAX_TEXT = 1000
_MAX_CODE = 64


def read_refusal(body: bytes, retry_after: str | None = None) -> ServerRefused | None:
    """The error in ``body``, None when it holds none (somebody else's page, for example)."""
    try:
        error = json.loads(body)["error"]
        code, message = error["code"], error["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return ServerRefused.told(
        code[:_MAX_CODE],
        message[:_MAX_TEXT],
        retryable=error.get("retryable") is True,
        retry_after=_seconds(retry_after),
    )


def _seconds(text: str | None) -> float | None:
    if text is None or not text.strip().isascii() or not text.strip().isdigit():
        return None
    return float(text.strip()[:9])
