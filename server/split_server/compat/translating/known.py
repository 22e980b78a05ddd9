"""Which fields of a request an API knows: none is ignored in silence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from split_server.compat.openai.errors import UnsupportedParameter
from split_server.compat.openai.fields import Fields

# The values with which a field changes nothing; an empty list or object always does.
Neutral: TypeAlias = tuple[bool | int | float | str, ...]
_UNKNOWN = "no such field is known here"


@dataclass(frozen=True, slots=True)
class Known:
    """``read``: fields that are honoured; ``idle``: accepted without effect; ``refused``: with
    another value than these, for the reason in ``reasons``.
    """

    read: Collection[str]
    idle: Collection[str] = ()
    refused: Mapping[str, Neutral] = field(default_factory=lambda: MappingProxyType({}))
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.read, *self.idle, *self.refused))

    def check(self, fields: Fields) -> None:
        """Raises UnsupportedParameter for the first field that would be ignored."""
        for name in sorted(fields.names()):
            if name in self.read or name in self.idle:
                continue
            if not _is_neutral(fields.raw(name), self.refused.get(name)):
                reason = self.reasons.get(name, _UNKNOWN)
                raise UnsupportedParameter(fields.path(name), reason)


def _is_neutral(value: Any, neutral: Neutral | None) -> bool:
    if neutral is None:
        return False
    if isinstance(value, list | dict):
        return not value
    # Of equal values a flag is no number.
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in neutral)
