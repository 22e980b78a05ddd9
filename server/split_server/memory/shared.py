"""One account of the memory that several models of a process take, each planned by itself.

Every planner measures what is free for all, and would promise it to its own sessions alone. What
the others have promised, will still write, and need for a pass is taken from its measurement here.
A model alone has no others, and pays for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from split_server.memory.usage import process_usage

T = TypeVar("T")
# Sums are taken on whichever thread loads, over what the event loop changes meanwhile.
_TRIES = 100


class Member(Protocol):
    """Bytes of one model's room. ``promised`` to admitted steps and not taken yet, ``untouched``:
    allocated and not written to; ``workspace`` of its largest pass; ``beside``: that a process
    beside may take, ``texts``: that stay free for its texts; ``reserved`` for caches, ``written``
    of all that it has for them; ``waiting``: in idle buffers and runs that make way; ``total``: of
    its budget.
    """

    @property
    def promised(self) -> int: ...
    @property
    def untouched(self) -> int: ...
    @property
    def workspace(self) -> int: ...
    @property
    def beside(self) -> int: ...
    @property
    def texts(self) -> int: ...
    @property
    def reserved(self) -> int: ...
    @property
    def written(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def total(self) -> int: ...
    def reserved_by(self, principal: str) -> int:
        """Bytes of :attr:`reserved` that are the principal's."""

    def give_way(self, size: int) -> None:
        """Free idle buffers and runs, ``size`` bytes of them or all."""

    def bound(self) -> None:
        """Heed what the others have now."""


class SharedMemory:
    """``held``: bytes that the process holds of the device's memory."""

    def __init__(self, held: Callable[[], int] = lambda: process_usage().private) -> None:
        self._held = held
        self._members: tuple[Member, ...] = ()
        self._lock = threading.Lock()
        self._once: dict[str, object] = {}
        self._loading: Loading | None = None

    @property
    def members(self) -> tuple[Member, ...]:
        """The rooms that are open."""
        return self._members

    def seat(self) -> Seat:
        """The place of a model that is being planned."""
        return Seat(self, self._loading)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` gives at the first call for ``name``."""
        with self._lock:
            if name not in self._once:
                self._once[name] = make()
            return self._once[name]  # type: ignore[return-value]

    def join(self, member: Member) -> None:
        """Count ``member`` from now on."""
        with self._lock:
            self._members = (*self._members, member)

    def leave(self, member: Member) -> None:
        """Do not count ``member`` any more."""
        with self._lock:
            self._members = tuple(one for one in self._members if one is not member)
        for other in self._members:
            other.bound()

    @contextmanager
    def loading(self, size: int) -> Iterator[None]:
        """Promise ``size`` bytes to a model that is loaded meanwhile, as far as they are not taken
        yet; one at a time.
        """
        self._loading = Loading(size, self._held, self.written)
        try:
            yield
        finally:
            self._loading = None

    def promised_to_loading(self, besides: Loading | None) -> int:
        """Bytes of the promise to the model that is loaded, unless that is ``besides``."""
        loading = self._loading
        return 0 if loading is None or loading is besides else loading.left()

    def written(self) -> int:
        """Bytes of the memory that all members have written to for caches."""
        return steady(lambda: sum(one.written for one in self._members))


class Loading:
    """The promise to one model: ``size`` bytes, less what the process has taken for it by now.

    What ``caches`` of the others took meanwhile was not for it.
    """

    def __init__(self, size: int, held: Callable[[], int], caches: Callable[[], int]) -> None:
        self._size, self._held, self._caches = size, held, caches
        self._before = held() - caches()

    def left(self) -> int:
        """Bytes that are still to be taken."""
        taken = self._held() - self._caches() - self._before
        return min(max(self._size - max(taken, 0), 0), self._size)


class Seat:
    """One model's view of what the others have; ``loading``: the promise that is its own."""

    def __init__(self, shared: SharedMemory, loading: Loading | None = None) -> None:
        self._shared, self._loading = shared, loading
        self._member: Member | None = None

    @property
    def shared(self) -> SharedMemory:
        """The account of all."""
        return self._shared

    def take(self, member: Member) -> None:
        """Be counted as ``member``."""
        self._member = member
        self._shared.join(member)

    def leave(self) -> None:
        """The model has gone."""
        member, self._member = self._member, None
        if member is not None:
            self._shared.leave(member)

    @property
    def others(self) -> tuple[Member, ...]:
        """The rooms but this one."""
        members = self._shared.members
        return tuple(one for one in members if one is not self._member)

    @property
    def spoken_for(self) -> int:
        """Bytes that others were promised, a model that is being loaded included, and that stay
        free for their texts.
        """
        return self._sum(lambda one: one.promised + one.texts) + self._shared.promised_to_loading(
            self._loading
        )

    @property
    def untouched(self) -> int:
        """Bytes of others' buffers that are allocated and not written to."""
        return self._sum(lambda one: one.untouched)

    @property
    def beside(self) -> int:
        """Bytes that processes beside others may take."""
        return self._sum(lambda one: one.beside)

    @property
    def workspace(self) -> int:
        """Bytes of the largest pass of any other: one pass runs at a time."""
        return steady(lambda: max((one.workspace for one in self.others), default=0))

    @property
    def reserved(self) -> int:
        """Bytes reserved for others' caches."""
        return self._sum(lambda one: one.reserved)

    @property
    def waiting(self) -> int:
        """Bytes that others' idle buffers and runs hold."""
        return self._sum(lambda one: one.waiting)

    @property
    def total(self) -> int | None:
        """The smallest budget of the others, which is that of all; None without others."""
        return min((one.total for one in self.others), default=None)

    def reserved_by(self, principal: str) -> int:
        """Bytes reserved for the principal by others."""
        return self._sum(lambda one: one.reserved_by(principal))

    def give_way(self, size: int) -> int:
        """Have others free ``size`` bytes of idle buffers and runs; how many are gone."""
        before = self.waiting
        for one in self.others:
            if (left := size - (before - self.waiting)) > 0:
                one.give_way(left)
        return before - self.waiting

    def bound_others(self) -> None:
        """Have others heed what this one has now."""
        for one in self.others:
            one.bound()

    def _sum(self, size: Callable[[Member], int]) -> int:
        others = self.others
        return steady(lambda: sum(map(size, others))) if others else 0


def steady(read: Callable[[], T]) -> T:
    """What ``read`` gives once nothing that it goes over changes under it."""
    for _ in range(_TRIES):
        try:
            return read()
        except RuntimeError:
            continue
    return read()
