"""A reply that was asked to have a form: whether it is whole, and what it says at its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from split_client.errors import ReplyCut
from split_client.generation.loop import FinishReason
from split_client.grammar.form import JSON_FORMS, Form

_REASONS: dict[FinishReason | None, str] = {
    "length": "it has as many tokens as it may; raise max_tokens (--max-tokens)",
    "context": "the model's context is full; shorten the prompt",
    "cancelled": "it was stopped; ask again",
    "stop": "a stop text ended it; leave stop texts out beside a form",
    "eos": "an end token came too early; ban none that the form needs",
}


@dataclass(frozen=True, slots=True)
class Formed:
    """``is_whole``: whether the tokens chosen so far are a text of ``form``."""

    form: Form
    is_whole: Callable[[], bool]

    def value(self, text: str, reason: FinishReason | None) -> Any:
        """What ``text``, ended for ``reason``, says: the parsed JSON of a JSON form, else itself.

        Raises ReplyCut.
        """
        if not self.is_whole():
            raise ReplyCut(_REASONS.get(reason, "it was not read to its end; read it first"))
        if not isinstance(self.form, JSON_FORMS):
            return text
        try:
            return json.loads(text)
        # A stop text has taken the end of it.
        except (ValueError, RecursionError):
            raise ReplyCut(_REASONS["stop"]) from None
