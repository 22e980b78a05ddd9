"""Whether a field that nobody reads may be passed over: by its name, or by its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

# What a field means that is filled in without being used. One that is null is not given at all.
_NOTHING: tuple[Any, ...] = (False, 0, "", [], {})


@dataclass(frozen=True, slots=True)
class Accepted:
    """``harmless``: names whose values change no reply, whatever they are. ``neutral``: by name,
    the values that change none; of names that are not listed those that say nothing.
    """

    harmless: frozenset[str] = frozenset()
    neutral: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def __or__(self, other: Accepted) -> Accepted:
        return Accepted(
            self.harmless | other.harmless, MappingProxyType({**self.neutral, **other.neutral})
        )

    def refused(self, given: Mapping[str, Any]) -> str | None:
        """The first name of ``given``, fields that nobody read, that may not be passed over."""
        return next((name for name, value in given.items() if not self._passes(name, value)), None)

    def _passes(self, name: str, value: Any) -> bool:
        if value is None or name in self.harmless:
            return True
        return any(_same(value, one) for one in self.neutral.get(name, _NOTHING))

    def advice(self, name: str) -> str:
        """What to send instead of the value that was refused."""
        values = self.neutral.get(name, ())
        if not values:
            return "leave it out"
        return "leave it out, or send " + " or ".join(map(_written, values))


def _same(value: Any, one: Any) -> bool:
    """Equal, of the same kind: true is no 1."""
    return isinstance(value, bool) == isinstance(one, bool) and bool(value == one)


def _written(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
