"""Lost names: those that a client's own sessions had, which must not be continued silently."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from split_server.kv.block_key import BlockNames

_REMEMBERED = 1024
# A server-issued id is base64url text, which has no colon; a device that sends one is refused.
_NAME_MARK = "name:"


def named(name: str) -> str:
    """The key of a session under a client's own ``name``."""
    return _NAME_MARK + name


def is_named(key: str) -> bool:
    """Whether the session of that key has a name of its client's."""
    return key.startswith(_NAME_MARK)


@dataclass(frozen=True, slots=True)
class Parked:
    """Where a lost session stood: ``positions``, their chained ``digest``, and the names under
    which they are kept.
    """

    names: BlockNames
    positions: int
    digest: bytes


class LostNames:
    """At most 1,024 of each principal, the latest, so that nobody erases somebody else's."""

    def __init__(self) -> None:
        self._lost: dict[str, OrderedDict[str, Parked | None]] = {}

    def add(self, principal: str, name: str, parked: Parked | None = None) -> list[Parked]:
        """A session of that name was lost, and ``parked`` if it may go on; those that may go on no
        more because of it.
        """
        names = self._lost.setdefault(principal, OrderedDict())
        before = [names.pop(name, None)]
        names[name] = parked
        while len(names) > _REMEMBERED:
            before.append(names.popitem(last=False)[1])
        return [one for one in before if one is not None]

    def discard(self, principal: str, name: str) -> None:
        """The name may be used again as if new."""
        names = self._lost.get(principal)
        if names is not None and name in names:
            del names[name]
            if not names:
                del self._lost[principal]

    def holds(self, principal: str, name: str) -> bool:
        """Whether a session of that name was lost."""
        return name in self._lost.get(principal, ())

    def parked(self, principal: str, name: str) -> Parked | None:
        """Where the lost session of that name stood, None where it may not go on."""
        names = self._lost.get(principal)
        return None if names is None else names.get(name)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Forget what principals that are ``gone`` had."""
        for principal in [principal for principal in self._lost if gone(principal)]:
            del self._lost[principal]
