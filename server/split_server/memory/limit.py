"""Limits of memory: bytes that this process may still take, and what forbids more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import psutil
import torch

from split_server.memory.cgroup import cgroup_free
from split_server.memory.shared import Seat, SharedMemory
from split_server.memory.usage import Usage, process_usage


@dataclass(frozen=True, slots=True)
class Room:
    """``free`` bytes may still be taken; ``source`` names the limit that is nearest.

    ``counts_untouched``: whether that limit has already counted memory that is allocated and not
    written to yet. ``own``: whether it limits this process or its group, rather than all of the
    machine.
    """

    free: int
    source: str
    counts_untouched: bool = False
    own: bool = True


Source = Callable[[], Room | None]


class Limits(Protocol):
    """Limits, each with what it leaves."""

    def rooms(self) -> list[Room]:
        """The room that each limit leaves."""


class MemoryLimit:
    """The nearest of several limits; a source without a limit returns None."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def rooms(self) -> list[Room]:
        """The room that each limit leaves."""
        return [room for source in self._sources if (room := source()) is not None]

    def room(self, untouched: int = 0) -> Room:
        """The room that the nearest limit leaves; every source is read.

        ``untouched``: bytes that are allocated and will be written to later without a question.
        """
        return min((after(room, untouched) for room in self.rooms()), key=lambda room: room.free)


def after(room: Room, untouched: int) -> Room:
    """``room`` once ``untouched`` bytes are written to."""
    return room if room.counts_untouched else replace(room, free=room.free - untouched)


def memory_limit_of(
    device: torch.device,
    own: int = 0,
    beside: int = 0,
    share: float = 1.0,
    seat: Seat | None = None,
) -> MemoryLimit:
    """The limits on what a process that computes on ``device`` may take for its caches.

    ``own``: bytes of private memory that it may hold, 0 for no limit of its own; ``beside``: bytes
    that a process beside it may take of what both share; ``share``: of what is free now, beside
    what it holds already, that both may take in all; with the ``seat`` of a model among others, of
    what was free before the first one, and processes beside the others take as much as they may.
    """
    seat = SharedMemory().seat() if seat is None else seat
    once = seat.shared.once
    if device.type == "cuda":
        gpu: list[Source] = [lambda: _gpu(device)]
        if share < 1:
            held = lambda: int(torch.cuda.memory_allocated(device))  # noqa: E731
            gpu.append(once(f"share of {device}", lambda: share_limit(share, gpu, held)))
        return MemoryLimit(gpu)
    shared: list[Source] = [_machine, cgroup_room]

    def without(source: Source) -> Source:
        return _without(lambda: beside + seat.beside, source)

    sources = [*map(without, shared), *resource_limits()]
    if own:
        sources.append(own_limit(own))
    if share < 1:
        sources.append(without(once("share", lambda: share_limit(share, shared))))
    return MemoryLimit(sources)


def share_limit(
    share: float,
    sources: Sequence[Source],
    held: Callable[[], int] = lambda: process_usage().private,
) -> Source:
    """A ``share`` of the room that the nearest of ``sources`` leaves now, beside what the process
    has ``held`` until now: neighbours that take no more than the rest of it are left theirs.
    """
    limit = held() + int(share * max(MemoryLimit(sources).room().free, 0))
    return lambda: Room(limit - held(), "--memory-share")


def _without(size: Callable[[], int], source: Source) -> Source:
    """``source`` with ``size`` bytes less."""

    def less() -> Room | None:
        room = source()
        return None if room is None else replace(room, free=room.free - size())

    return less


def own_limit(limit: int, usage: Callable[[], Usage] = process_usage) -> Source:
    """``limit`` bytes of private resident memory."""
    return lambda: Room(limit - usage().private, "--memory-limit")


def cgroup_room() -> Room | None:
    """The room that the control groups of this process leave."""
    free = cgroup_free()
    return None if free is None else Room(free, "cgroup")


def resource_limits(usage: Callable[[], Usage] = process_usage) -> list[Source]:
    """RLIMIT_DATA and RLIMIT_AS, where the platform has them; see getrlimit(2)."""
    try:
        import resource
    except ImportError:
        return []

    def limited(kind: int, name: str, held: Callable[[Usage], int]) -> Source:
        def source() -> Room | None:
            soft, _ = resource.getrlimit(kind)
            if soft == resource.RLIM_INFINITY:
                return None
            return Room(soft - held(usage()), name, counts_untouched=True)

        return source

    return [
        limited(resource.RLIMIT_DATA, "RLIMIT_DATA", lambda now: now.data),
        limited(resource.RLIMIT_AS, "RLIMIT_AS", lambda now: now.size),
    ]


def _machine() -> Room:
    return Room(int(psutil.virtual_memory().available), "machine", own=False)


def _gpu(device: torch.device) -> Room:
    """Free memory of the GPU and what torch holds of it without using it."""
    free = int(torch.cuda.mem_get_info(device)[0])
    idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return Room(free + int(idle), "GPU", counts_untouched=True, own=False)
