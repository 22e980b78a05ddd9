"""Counts of answers by HTTP status and of errors by code, for as many as there are by design."""

from __future__ import annotations

from collections import Counter

from split_server.error_reports import Form

# Codes come from our own error classes; the bound holds whatever they are.
_MOST_CODES = 128
_OTHER = "other"


class AnswerMeter:
    """Lives on the event loop. ``statuses``: answers by HTTP status, 101 for WebSockets and 0 for
    those that broke off before one; ``errors``: by form and code.
    """

    def __init__(self, most_codes: int = _MOST_CODES) -> None:
        self._most_codes = most_codes
        self.statuses: Counter[int] = Counter()
        self.errors: Counter[tuple[Form, str]] = Counter()

    def answered(self, status: int) -> None:
        """A request was answered."""
        self.statuses[status] += 1

    def refused(self, form: Form, code: str) -> None:
        """A client was told the error ``code``."""
        if (form, code) not in self.errors and len(self.errors) >= self._most_codes:
            code = _OTHER
        self.errors[form, code] += 1
