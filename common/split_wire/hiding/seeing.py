"""Messages about which rows of a session its later rows see (capability ``spans``).

``hide`` and ``show`` name spans of cached positions. What was computed stays as it is; rows that
are appended while some are hidden do not see those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from split_wire.digest import DIGEST_BYTES
from split_wire.fields import Fields
from split_wire.hiding.spans import Spans, optional_span, spans_field, spans_value


@dataclass(frozen=True, slots=True)
class Hide:
    """Keep ``cached`` positions, whose chained digest is ``prefix``, and hide those of ``spans``
    beside those that are hidden already.

    ``message``: where the last message of the user lies, one span or none, which is not hidden.
    """

    session: str
    cached: int
    prefix: bytes
    spans: Spans
    message: Spans = ()


@dataclass(frozen=True, slots=True)
class Show:
    """Keep ``cached`` positions, whose chained digest is ``prefix``, and have those of ``spans``
    seen again.
    """

    session: str
    cached: int
    prefix: bytes
    spans: Spans


@dataclass(frozen=True, slots=True)
class Hidden:
    """Of the ``cached`` positions of a session those of ``spans`` are hidden now."""

    session: str
    cached: int
    spans: Spans


SeeingMessage: TypeAlias = Hide | Show | Hidden


def parse_hide(fields: Fields, _: object) -> Hide:
    """Raises MalformedMessage."""
    spans, prefix = spans_field(fields, "spans"), fields.digest("prefix", DIGEST_BYTES)
    message = optional_span(fields, "message")
    return Hide(fields.text("session"), fields.count("cached"), prefix, spans, message)


def parse_show(fields: Fields, _: object) -> Show:
    """Raises MalformedMessage."""
    spans, prefix = spans_field(fields, "spans"), fields.digest("prefix", DIGEST_BYTES)
    return Show(fields.text("session"), fields.count("cached"), prefix, spans)


def parse_hidden(fields: Fields, _: object) -> Hidden:
    """Raises MalformedMessage."""
    return Hidden(fields.text("session"), fields.count("cached"), spans_field(fields, "spans"))


def seeing_header(message: SeeingMessage) -> dict[str, Any]:
    """The header of the frame that carries ``message``."""
    header: dict[str, Any] = {
        "type": type(message).__name__.lower(),
        "session": message.session,
        "cached": message.cached,
        "spans": spans_value(message.spans),
    }
    if not isinstance(message, Hidden):
        header["prefix"] = message.prefix
    if isinstance(message, Hide) and message.message:
        header["message"] = spans_value(message.message)
    return header
