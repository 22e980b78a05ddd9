"""The form of log lines on standard error: text for people, or one JSON object per line."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from split_settings.visible import visible

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """``time`` (RFC 3339, UTC, milliseconds), ``level``, ``logger``, ``message``; the fields of a
    request under ``request`` and a traceback under ``exception`` where there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line, in ASCII, whatever the message holds."""
        second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields: dict[str, Any] = {
            "time": f"{second}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = getattr(record, "request", None)
        if isinstance(request, dict):
            fields["request"] = request
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


class TextFormatter(logging.Formatter):
    """Lines for people; control characters in them are written out."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def format(self, record: logging.LogRecord) -> str:
        """The line, and a traceback below it where there is one."""
        return visible(super().format(record), keep="\n\t")


def configure_logs(form: str, level: str) -> None:
    """Write the server's lines from ``level`` on, and warnings of others, in ``form``."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler])
    logging.getLogger("split_server").setLevel(level.upper())
