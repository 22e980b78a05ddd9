"""Redaction in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from split_client.chat.redacting.redaction import ChatRedaction
from split_client.redaction.kinds import GROUPS, Kind
from split_client.terminal.output.words import counted

_WORDS: Final[dict[Kind, str]] = {
    "email": "e-mail address",
    "iban": "IBAN",
    "card": "card",
    "id": "national id",
    "phone": "phone number",
    "date": "date",
    "street": "street",
    "place": "place",
    "given": "first name",
    "family": "surname",
}


def redaction_line(redaction: ChatRedaction) -> str:
    """Whether it is on, and what for."""
    settings = redaction.settings
    if not redaction.on or settings is None:
        return "redaction is off: the model, and so the server, is given what you write"
    kinds = ", ".join(group for group in GROUPS if group in settings.groups)
    where = ", ".join(settings.regions) or "none"
    return (
        f"redaction is on for {kinds} (regions: {where}; {counted(len(settings.names), 'name')} of "
        "your own); names that it does not know go out as they are"
    )


def counted_kinds(kinds: Iterable[Kind]) -> str:
    """As "2 first names, 1 IBAN"."""
    counts = Counter(kinds)
    return ", ".join(counted(counts[kind], word) for kind, word in _WORDS.items() if counts[kind])


def word_of(kind: Kind) -> str:
    """The word for one value of the kind."""
    return _WORDS[kind]
