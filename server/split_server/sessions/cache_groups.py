"""Groups of principals that the operator lets share the beginnings of their prompts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from split_wire.errors import UnknownCacheGroup

_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
# As a tokens file names principals, and as paired devices are called.
_MEMBER = re.compile(r"(device:)?[A-Za-z0-9._@-]{1,64}")
_BETWEEN = "+"


@dataclass(frozen=True, slots=True)
class Share:
    """``members`` of the group ``name`` share the first ``until`` positions."""

    name: str
    members: frozenset[str]
    until: int


def group_text(text: str) -> str:
    """``text`` as a group, ``name=principal+principal`` without spaces. Raises ValueError."""
    name, _, members = (part.strip() for part in text.partition("="))
    listed = [member.strip() for member in members.split(_BETWEEN)]
    if not _NAME.fullmatch(name) or not all(map(_MEMBER.fullmatch, listed)):
        raise ValueError(
            f"{text!r} is not a group; write it like family=ann+bob+device:1f2e3d, with the names "
            "of the tokens file and the ids of paired devices"
        )
    return f"{name}={_BETWEEN.join(listed)}"


class CacheGroups:
    """``groups``: as :func:`group_text` gives them; one that comes twice has all members."""

    def __init__(self, groups: Iterable[str] = ()) -> None:
        self._members: dict[str, frozenset[str]] = {}
        for text in groups:
            name, _, members = text.partition("=")
            known = self._members.get(name, frozenset())
            self._members[name] = known | {*members.split(_BETWEEN)}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._members)

    def share(self, principal: str, name: str | None, until: int) -> Share | None:
        """What ``principal`` shares with the group ``name``; None where it names none.

        Raises UnknownCacheGroup, whether there is no such group or it is no member.
        """
        if name is None:
            return None
        members = self._members.get(name, frozenset())
        if principal not in members:
            raise UnknownCacheGroup(name)
        return Share(name, members, until)
