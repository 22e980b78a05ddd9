"""Whether a field that nobody reads may be passed over: by its name, or by its value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Values: TypeAlias = tuple[Any, ...]
# What a field means that is filled in without being used. One that is null is not given at all.
NOTHING: Final[Values] = (False, 0, "", [], {})


def _none() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Accepted:
    """``harmless``: names whose values change no reply, whatever they are. ``neutral``: by name,
    the values that change none; of names that are not listed those that say nothing. ``reasons``:
    why others of a name are refused. ``read``: names that are read after they were checked.
    """

    harmless: frozenset[str] = frozenset()
    neutral: Mapping[str, Values] = field(default_factory=_none)
    reasons: Mapping[str, str] = field(default_factory=_none)
    read: frozenset[str] = frozenset()

    def __or__(self, other: Accepted) -> Accepted:
        return Accepted(
            self.harmless | other.harmless,
            MappingProxyType({**self.neutral, **other.neutral}),
            MappingProxyType({**self.reasons, **other.reasons}),
            self.read | other.read,
        )

    @property
    def names(self) -> frozenset[str]:
        """All that are read or listed."""
        return self.read | self.harmless | self.neutral.keys()

    def refused(self, given: Mapping[str, Any]) -> str | None:
        """The first name of ``given``, fields that nobody read, that may not be passed over."""
        return next((name for name, value in given.items() if not self._passes(name, value)), None)

    def _passes(self, name: str, value: Any) -> bool:
        if value is None or name in self.harmless or name in self.read:
            return True
        return any(_same(value, one) for one in self.neutral.get(name, NOTHING))

    def advice(self, name: str) -> str:
        """Why the value was refused, or what to send instead."""
        if name in self.reasons:
            return self.reasons[name]
        values = [value for value in self.neutral.get(name, ()) if value or value in (False, 0)]
        send = ", or send " if values else ""
        return f"leave it out{send}{' or '.join(map(_written, values))}"


def known(
    read: Collection[str],
    harmless: Collection[str] = (),
    neutral: Mapping[str, Values] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Accepted:
    """Of an object whose fields are checked before they are read, so that it names those."""
    return Accepted(frozenset(harmless), neutral or {}, reasons or {}, frozenset(read))


def _same(value: Any, one: Any) -> bool:
    """Equal, of the same kind: true is no 1."""
    return isinstance(value, bool) == isinstance(one, bool) and bool(value == one)


def _written(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
