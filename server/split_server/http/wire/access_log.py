"""One log line per request: method, path, status, time. Never a query, a header or a body."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from split_server.error_reports import Form, reporting_errors
from split_server.metrics.answers import AnswerMeter

_MAX_PATH = 200
_log = logging.getLogger(__name__)


class AccessLog:
    """Pure ASGI. Refusals are logged as information, everything else for debugging.

    The fields of the line are those of ``record.request``; ``meter`` counts answers and errors.
    """

    def __init__(
        self,
        app: ASGIApp,
        clock: Callable[[], float] = time.perf_counter,
        meter: AnswerMeter | None = None,
    ) -> None:
        self._app = app
        self._clock = clock
        self._meter = meter or AnswerMeter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        begun, status, told = self._clock(), 0, ""

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        def refused(form: Form, code: str) -> None:
            nonlocal told
            told = code
            self._meter.refused(form, code)

        try:
            with reporting_errors(refused):
                await self._app(scope, receive, watch)
        finally:
            self._meter.answered(status)
            _write(scope, status, told, 1e3 * (self._clock() - begun))


def _write(scope: Scope, status: int, code: str, milliseconds: float) -> None:
    level = logging.INFO if status >= 400 else logging.DEBUG
    if not _log.isEnabledFor(level):
        return
    fields = _fields(scope, status, code, milliseconds)
    _log.log(
        level,
        "%s %s %d in %.1f ms",
        fields["method"],
        fields["path"],
        status,
        milliseconds,
        extra={"request": fields},
    )


def _fields(scope: Scope, status: int, code: str, milliseconds: float) -> dict[str, Any]:
    """The fields that may be logged; whatever is not printable in the path is escaped."""
    fields: dict[str, Any] = {
        "method": scope.get("method", "WEBSOCKET"),
        "path": repr(scope["path"][:_MAX_PATH])[1:-1],
        "status": status,
        "milliseconds": round(milliseconds, 1),
    }
    return fields | ({"code": code} if code else {})
