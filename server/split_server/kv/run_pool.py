"""Runs that are kept in memory, by the names of their blocks; usable from any thread.

A run stays while others follow it, or while it is read. Of the rest the least recently used goes
first, and of whoever has more than a principal may have, his own. A pinned run stays as well, but
for memory that sessions need and when its principal goes.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from split_server.kv.cutting import planned, shortened, with_all_behind
from split_server.kv.pins import PinsFull, pinned_bytes, room_for_pins
from split_server.kv.run import Run, Span, spans_to

# Why runs go: memory that sessions need, a principal's share, room for newer ones, age, because
# they are to be forgotten, or because what they hold is wrong or of no more use.
EVICTIONS = ("memory", "share", "room", "age", "forgotten", "discarded")

# Seconds of a pin that nobody ends.
FOR_EVER = math.inf
# Of a run that is kept: it is read just now, pinned, others follow it, or it may go.
STATES = ("read", "pinned", "followed", "idle")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Bytes of all runs, and of one principal's; seconds after which an unused one goes.

    ``runs``: how many there are, of one principal half as many. Each may have a mapping of memory
    of its own, of which Linux gives a process 65,530 (proc(5), max_map_count), and sessions need
    some as well.
    """

    total: int = 1 << 62
    per_principal: int = 1 << 62
    ttl: float = 3600.0
    runs: int = 8192


class RunPool:
    """``clock`` in seconds."""

    def __init__(self, limits: PoolLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._bound = limits.total
        self._by_name: dict[bytes, tuple[Run, int]] = {}
        # Those of which another run has a block under the same name.
        self._shadowed: set[Run] = set()
        # Least recently used first.
        self._runs: OrderedDict[Run, None] = OrderedDict()
        self._bytes = 0
        self._held: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self.evicted: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def limits(self) -> PoolLimits:
        """What it was made with."""
        return self._limits

    @property
    def held_bytes(self) -> int:
        """Bytes of all runs."""
        return self._bytes

    def count_of(self, principal: str) -> int:
        """How many runs the principal has."""
        return self._counts[principal]

    def held_by(self, principal: str) -> int:
        """Bytes of the principal's runs."""
        return self._held[principal]

    def states(self) -> Counter[str]:
        """How many runs are in each of ``STATES``, by the first of them that applies."""
        with self._lock:
            now = self._clock()
            return Counter(_state(run, now) for run in self._runs)

    def knows(self, name: bytes) -> bool:
        """Whether there is a block of that name."""
        return name in self._by_name

    def hold(self, names: Sequence[bytes]) -> list[Span]:
        """The spans of the first of ``names`` that is known, from position 0 on, empty where none
        is; none of them goes before :meth:`let_go`.
        """
        with self._lock:
            found = next(filter(None, map(self._by_name.get, names)), None)
            spans = [] if found is None else spans_to(*found)
            for span in spans:
                span.run.readers += 1
                self._touch(span.run)
        return spans

    def let_go(self, spans: Iterable[Span]) -> None:
        """They are not read any more."""
        with self._lock:
            for span in spans:
                span.run.readers -= 1

    @contextmanager
    def longest(self, names: Sequence[bytes]) -> Iterator[list[Span]]:
        """:meth:`hold` for as long as the block runs."""
        spans = self.hold(names)
        try:
            yield spans
        finally:
            self.let_go(spans)

    def find(self, name: bytes) -> Run | None:
        """The run that has the block of that name."""
        found = self._by_name.get(name)
        return None if found is None else found[0]

    def room_for(self, owner: str, size: int, sparing: Run | None) -> bool:
        """Whether ``size`` bytes more fit, after others made way that ``sparing`` does not need."""
        with self._lock:
            return self._make_room(owner, size, sparing)

    def add(self, run: Run) -> bool:
        """Keep ``run``; False when its blocks are known already, its parent has gone or there is no
        room.
        """
        with self._lock:
            parent = run.parent
            if parent is not None and parent not in self._runs:
                return False
            if all(self._known(name, run) for name in run.names.values()):
                return False
            if not self._make_room(run.owner, run.size, parent):
                return False
            self._insert(run)
            self._touch(run)
            return True

    def pin(self, names: Sequence[bytes], most: int, seconds: float) -> int:
        """Keep the longest prefix that one of ``names`` names, for ``seconds`` from now; how many
        positions that are, 0 where none is known.

        ``most``: bytes that each owner of its runs may have pinned, a pin that goes on included.
        Raises PinsFull, and then nothing is pinned.
        """
        with self._lock:
            now = self._clock()
            found = next(filter(None, map(self._by_name.get, names)), None)
            if found is None:
                return 0
            chain = _ancestors(found[0])
            for owner in {run.owner for run in chain}:
                new = sum(run.size for run in chain if run.owner == owner and not run.pinned(now))
                left = room_for_pins(self._runs, owner, now, most, self._limits.total)
                if new > left:
                    raise PinsFull(new, left)
            for run in chain:
                run.pinned_until = max(run.pinned_until, now + seconds)
                self._touch(run)
            return found[1]

    def pinned_by(self, principal: str | None = None) -> int:
        """Bytes of the principal's runs that are pinned, of all without one."""
        with self._lock:
            return pinned_bytes(self._runs, self._clock(), principal)

    def room_to_pin(self, principal: str, most: int) -> int:
        """Bytes that the principal may still pin, who may have ``most`` pinned."""
        with self._lock:
            return room_for_pins(self._runs, principal, self._clock(), most, self._limits.total)

    def discard(self, runs: Iterable[Run]) -> int:
        """Drop ``runs`` and all that follow them, whoever reads them; how many went."""
        with self._lock:
            bad = {run for run in runs if run in self._runs}
            gone = [run for run in self._runs if bad & _ancestors(run)]
            for run in gone:
                self._drop(run, "discarded")
            return len(gone)

    def bound(self, most: int) -> None:
        """Have at most ``most`` bytes from now on, beside the limits."""
        with self._lock:
            self._bound = min(most, self._limits.total)
            self._make_way(self._bound)

    def release(self, size: int) -> None:
        """Drop runs until ``size`` bytes are free that were not."""
        with self._lock:
            self._make_way(self._bytes - size)

    def sweep(self) -> None:
        """Drop what nobody used for longer than the limit."""
        with self._lock:
            now = self._clock()
            deadline = now - self._limits.ttl
            old = lambda run: run.used < deadline and not run.pinned(now)  # noqa: E731
            self._evict("age", lambda: False, old)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop the runs of principals that are ``gone``, and what follows them."""
        with self._lock:
            self._drop_all(run for run in self._runs if gone(run.owner))

    def purge(self, owner: str, space: bytes | None = None) -> tuple[int, int]:
        """Drop the runs of ``owner``, with ``space`` those of one salt, and what follows them; how
        many of the owner's went, and their bytes.
        """
        with self._lock:
            runs, held = self._counts[owner], self._held[owner]
            mine = (run for run in self._runs if run.owner == owner)
            self._drop_all(run for run in mine if space in (None, run.space))
            return runs - self._counts[owner], held - self._held[owner]

    def cut(self, owner: str, names: Iterable[bytes], slack: int = 0) -> None:
        """Drop the blocks of these ``names`` from the runs of ``owner``, but for what other runs
        follow; ``slack``: as many positions behind the last of them go as well.
        """
        wanted = {*names}
        with self._lock:
            found = [block for name in wanted if (block := self._by_name.get(name)) is not None]
            for run in self._shadowed:
                found += [(run, at) for at, name in run.names.items() if name in wanted]
            cut = planned(owner, found, self._runs, slack)
            for run in cut.gone:
                self._drop(run, "forgotten")
            for run, end in cut.shorter.items():
                self._unname(run, end)
        for run, end in cut.shorter.items():
            self._shorten(run, end)

    def _shorten(self, run: Run, end: int) -> None:
        """Have no more of ``run`` than the positions up to ``end``; whoever reads it still has all.

        The copy is made without the lock; a run that follows behind ``end`` meanwhile keeps all.
        """
        try:
            short = shortened(run, end)
        except (RuntimeError, MemoryError, OSError) as error:
            _log.warning("kept keys and values were dropped: %s", type(error).__name__)
            short = None
        with self._lock:
            children = [other for other in self._runs if other.parent is run]
            if run not in self._runs or any(child.start > end for child in children):
                return
            if short is None:
                self._drop_all([run])
                return
            self._drop(run, "forgotten")
            for child in children:
                child.parent = short
            short.children = len(children)
            self._insert(short)

    def _drop_all(self, runs: Iterable[Run]) -> None:
        """Drop ``runs`` and what follows them, whoever has it: without them it is not found."""
        for run in with_all_behind(runs, self._runs):
            # One that is read just now is freed when that ends.
            self._drop(run, "forgotten")

    def _make_room(self, owner: str, size: int, sparing: Run | None) -> bool:
        limits, bound, now = self._limits, self._bound, self._clock()
        if size > min(limits.per_principal, bound):
            return False
        needed = _ancestors(sparing)

        def own_fits() -> bool:
            few = self._counts[owner] < limits.runs // 2
            return few and self._held[owner] + size <= limits.per_principal

        def all_fit() -> bool:
            return len(self._runs) < limits.runs and self._bytes + size <= bound

        def may_go(run: Run) -> bool:
            return run not in needed and not run.pinned(now)

        self._evict("share", own_fits, lambda run: run.owner == owner and may_go(run))
        self._evict("room", all_fit, may_go)
        return own_fits() and all_fit()

    def _make_way(self, most: int) -> None:
        """Have at most ``most`` bytes; what is pinned goes last."""
        now = self._clock()
        self._evict("memory", lambda: self._bytes <= most, lambda run: not run.pinned(now))
        self._evict("memory", lambda: self._bytes <= most, lambda _: True)

    def _evict(
        self, reason: str, enough: Callable[[], bool], may_go: Callable[[Run], bool]
    ) -> None:
        """Drop leaves that ``may_go``, the least recently used first, until there is ``enough``."""
        dropped = True
        # A run that loses its last child is a leaf in the next round.
        while dropped and not enough():
            dropped = False
            for run in list(self._runs):
                if enough():
                    return
                if not run.children and not run.readers and may_go(run):
                    self._drop(run, reason)
                    dropped = True

    def _insert(self, run: Run) -> None:
        if run.parent is not None:
            run.parent.children += 1
        self._bytes += run.size
        self._held[run.owner] += run.size
        self._counts[run.owner] += 1
        for position, name in run.names.items():
            before = self._by_name.get(name)
            if self._known(name, run):
                self._shadowed.add(run)
                continue
            if before is not None:
                self._shadowed.add(before[0])
            self._by_name[name] = (run, position)
        self._runs[run] = None

    def _known(self, name: bytes, run: Run) -> bool:
        """Whether another run has the block, and may be written if ``run`` may."""
        found = self._by_name.get(name)
        return found is not None and (found[0].to_disk or not run.to_disk)

    def _unname(self, run: Run, end: int = 0) -> None:
        """Have the blocks of ``run`` behind ``end`` found no more."""
        for position, name in run.names.items():
            if position > end and self._by_name.get(name, (None,))[0] is run:
                del self._by_name[name]

    def _drop(self, run: Run, reason: str) -> None:
        del self._runs[run]
        self._shadowed.discard(run)
        self._bytes -= run.size
        self._held[run.owner] -= run.size
        self._counts[run.owner] -= 1
        if not self._counts[run.owner]:
            del self._held[run.owner], self._counts[run.owner]
        self._unname(run)
        if run.parent is not None:
            run.parent.children -= 1
        self.evicted[reason] += 1

    def _touch(self, run: Run) -> None:
        run.used = self._clock()
        self._runs[run] = None
        self._runs.move_to_end(run)


def _state(run: Run, now: float) -> str:
    if run.readers:
        return "read"
    if run.pinned(now):
        return "pinned"
    return "followed" if run.children else "idle"


def _ancestors(run: Run | None) -> set[Run]:
    found = set()
    while run is not None:
        found.add(run)
        run = run.parent
    return found
