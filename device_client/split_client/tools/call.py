"""A call of a tool, as a model makes it and as a chat keeps it."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

# Mistral's templates refuse ids of another length; no other family minds.
_ID_LENGTH = 9
_ID_LETTERS = string.ascii_letters + string.digits

NewId: TypeAlias = Callable[[], str]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """``arguments``: their JSON, an object."""

    id: str
    name: str
    arguments: str

    def as_dict(self) -> dict[str, Any]:
        """As OpenAI's API and files have it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    def values(self) -> dict[str, Any]:
        """The arguments as values; none where they are no object."""
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def new_call_id() -> str:
    """A fresh id of nine letters and digits."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))


def call_in(value: object) -> ToolCall | None:
    """The call in a message of a file or a program; None where it is none."""
    match value:
        case {"id": str(id_), "function": {"name": str(name), "arguments": str(arguments)}}:
            return ToolCall(id_[:256], name[:256], arguments)
    return None
