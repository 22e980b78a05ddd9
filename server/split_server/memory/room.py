"""Room for caches: what a store asks for space, and what is counted in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from split_server.kv.session_cache import SessionCache


class Holding(Protocol):
    """Something that takes space for a principal, told apart by identity.

    ``reserved``: bytes set aside for ``cache``; ``promised``: bytes by which the reply under way
    may exceed the one that is kept, which has ``reply_bytes``; ``bytes``: all of them.
    """

    principal: str
    cache: SessionCache
    reserved: int
    promised: int

    @property
    def reply_bytes(self) -> int: ...
    @property
    def bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A step for which ``holding`` is to have buffers for ``positions``, and whose reply, if it is
    large, has ``reply_bytes``.
    """

    holding: Holding
    positions: int
    reply_bytes: int = 0


class CacheRoom(Protocol):
    """Space for holdings, whatever bounds it. One that is held several times counts once."""

    @property
    def bytes(self) -> int:
        """Bytes set aside for all holdings, and of the buffers that wait for the next one."""

    def new_cache(self) -> SessionCache:
        """An empty cache whose buffers come from here."""

    def hold(self, holding: Holding) -> None:
        """Count ``holding``, once more for whoever holds it."""

    def drop(self, holding: Holding) -> None:
        """One holder less; with the last one the buffers are given back.

        Raises KeyError for what nobody holds.
        """

    def grows(self, claim: Claim) -> bool:
        """Whether the step needs more space than its holding has."""

    def check(self, claim: Claim, others: Sequence[Holding], *, told: bool = True) -> None:
        """Raise CacheFull when the step does not fit even with ``others`` dropped; ``told``:
        whether its client is told so, which is counted.
        """

    def fits(self, claim: Claim) -> bool:
        """Whether the step fits as things are."""

    def take(self, claim: Claim) -> None:
        """Set the space aside. Raises CacheFull, and then nothing is set aside."""

    def settle(self, holding: Holding) -> None:
        """No step of ``holding`` runs: count what its cache really holds."""
