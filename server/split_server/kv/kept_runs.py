"""Runs by the names of their blocks, counted by owner, and which of them go first."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from split_server.kv.cutting import with_all_behind
from split_server.kv.run import Run

# Why runs go: memory that sessions need, a principal's share, room for newer ones, age, because
# they are to be forgotten, or because what they hold is wrong or of no more use.
EVICTIONS = ("memory", "share", "room", "age", "forgotten", "discarded")
# Of a run that is kept: it is read just now, pinned, others follow it, or it may go.
STATES = ("read", "pinned", "followed", "idle")


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


class KeptRuns:
    """``clock`` in seconds; ``most``: bytes at the moment, beside ``limits``. Knows no threads:
    whoever calls holds the lock of the pool.
    """

    def __init__(self, limits: PoolLimits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self.most = limits.total
        self.by_name: dict[bytes, tuple[Run, int]] = {}
        # Those of which another run has a block under the same name.
        self._shadowed: set[Run] = set()
        # Least recently used first.
        self.runs: OrderedDict[Run, None] = OrderedDict()
        self.bytes = 0
        self.held: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        # Bytes of each tier.
        self.of_tier: Counter[str] = Counter()
        self.evicted: Counter[str] = Counter()

    def insert(self, run: Run) -> None:
        """Have ``run`` and its blocks found."""
        if run.parent is not None:
            run.parent.children += 1
        self.bytes += run.size
        self.held[run.owner] += run.size
        self.counts[run.owner] += 1
        self.of_tier[run.tier] += run.size
        for position, name in run.names.items():
            before = self.by_name.get(name)
            if self.known(name, run):
                self._shadowed.add(run)
                continue
            if before is not None:
                self._shadowed.add(before[0])
            self.by_name[name] = (run, position)
        self.runs[run] = None

    def known(self, name: bytes, run: Run) -> bool:
        """Whether another run has the block, and may be written if ``run`` may."""
        found = self.by_name.get(name)
        return found is not None and (found[0].to_disk or not run.to_disk)

    def blocks(self, wanted: set[bytes]) -> list[tuple[Run, int]]:
        """All blocks of these names, also those that another run's stand before."""
        found = [block for name in wanted if (block := self.by_name.get(name)) is not None]
        for run in self._shadowed:
            found += [(run, at) for at, name in run.names.items() if name in wanted]
        return found

    def touch(self, run: Run) -> None:
        """``run`` is used."""
        run.used = self._clock()
        self.runs[run] = None
        self.runs.move_to_end(run)

    def unname(self, run: Run, end: int = 0) -> None:
        """Have the blocks of ``run`` behind ``end`` found no more."""
        for position, name in run.names.items():
            if position > end and self.by_name.get(name, (None,))[0] is run:
                del self.by_name[name]

    def drop(self, run: Run, reason: str) -> None:
        """Let go of ``run``, which is one of them; ``reason``: one of ``EVICTIONS``."""
        del self.runs[run]
        self._shadowed.discard(run)
        self.bytes -= run.size
        self.held[run.owner] -= run.size
        self.counts[run.owner] -= 1
        self.of_tier[run.tier] -= run.size
        if not self.counts[run.owner]:
            del self.held[run.owner], self.counts[run.owner]
        self.unname(run)
        if run.parent is not None:
            run.parent.children -= 1
        self.evicted[reason] += 1

    def drop_all(self, runs: Iterable[Run]) -> None:
        """Drop ``runs`` and what follows them, whoever has it: without them it is not found."""
        for run in with_all_behind(runs, self.runs):
            # One that is read just now is freed when that ends.
            self.drop(run, "forgotten")

    def evict(self, reason: str, enough: Callable[[], bool], may_go: Callable[[Run], bool]) -> None:
        """Drop leaves that ``may_go``, the least recently used first, until there is ``enough``."""
        dropped = True
        # A run that loses its last child is a leaf in the next round.
        while dropped and not enough():
            dropped = False
            for run in list(self.runs):
                if enough():
                    return
                if not run.children and not run.readers and may_go(run):
                    self.drop(run, reason)
                    dropped = True

    def make_room(self, owner: str, size: int, sparing: Run | None) -> bool:
        """Whether ``size`` bytes more of ``owner`` fit, after others made way that ``sparing`` does
        not need.
        """
        limits, bound, now = self._limits, self.most, self._clock()
        if size > min(limits.per_principal, bound):
            return False
        needed = ancestors(sparing)

        def own_fits() -> bool:
            few = self.counts[owner] < limits.runs // 2
            return few and self.held[owner] + size <= limits.per_principal

        def all_fit() -> bool:
            return len(self.runs) < limits.runs and self.bytes + size <= bound

        def may_go(run: Run) -> bool:
            return run not in needed and not run.pinned(now)

        self.evict("share", own_fits, lambda run: run.owner == owner and may_go(run))
        self.evict("room", all_fit, may_go)
        return own_fits() and all_fit()

    def make_way(self, most: int) -> None:
        """Have at most ``most`` bytes; what is pinned goes last."""
        now = self._clock()
        self.evict("memory", lambda: self.bytes <= most, lambda run: not run.pinned(now))
        self.evict("memory", lambda: self.bytes <= most, lambda _: True)


def state(run: Run, now: float) -> str:
    """The first of ``STATES`` that applies at the time ``now``."""
    if run.readers:
        return "read"
    if run.pinned(now):
        return "pinned"
    return "followed" if run.children else "idle"


def ancestors(run: Run | None) -> set[Run]:
    """``run`` and all that it follows; empty for None."""
    found = set()
    while run is not None:
        found.add(run)
        run = run.parent
    return found
