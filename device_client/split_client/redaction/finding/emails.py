"""E-mail addresses."""

from __future__ import annotations

from collections.abc import Iterator

from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import Found
from split_client.redaction.rules import pattern, rules


def emails(looked: Looked) -> Iterator[Found]:
    if "@" not in looked.text:
        return
    for match in pattern(rules()["email"]).finditer(looked.text):
        start, end = match.span()
        yield looked.found("email", looked.lower[start:end], start, end)
