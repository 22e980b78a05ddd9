"""The fields that every part of an answer begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.openai.model import ServedModel


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """``id`` of the answer; ``created``: Unix time."""

    id: str
    created: int
    served: ServedModel

    def document(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        """An object of ``kind`` with these choices."""
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.served.name,
            "system_fingerprint": self.served.fingerprint,
            "choices": choices,
        }
