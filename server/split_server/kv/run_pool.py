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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from split_server.kv.cutting import planned, shortened
from split_server.kv.kept_runs import KeptRuns, PoolLimits, ancestors, state
from split_server.kv.lineage import is_worse
from split_server.kv.pins import PinsFull, pinned_bytes, room_for_pins
from split_server.kv.run import Run, Span, spans_to
from split_wire.tiers import TIERS, Tier

# Seconds of a pin that nobody ends.
FOR_EVER = math.inf
_log = logging.getLogger(__name__)


class RunPool:
    """``clock`` in seconds."""

    def __init__(self, limits: PoolLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._kept = KeptRuns(limits, clock)

    def __len__(self) -> int:
        return len(self._kept.runs)

    @property
    def limits(self) -> PoolLimits:
        """What it was made with."""
        return self._limits

    @property
    def evicted(self) -> Counter[str]:
        """How many runs went, by the reasons of ``EVICTIONS``."""
        return self._kept.evicted

    @property
    def held_bytes(self) -> int:
        """Bytes of all runs."""
        return self._kept.bytes

    def bytes_of(self, tier: Tier) -> int:
        """Bytes of the runs of ``tier``."""
        return self._kept.of_tier[tier]

    def count_of(self, principal: str) -> int:
        """How many runs the principal has."""
        return self._kept.counts[principal]

    def held_by(self, principal: str) -> int:
        """Bytes of the principal's runs."""
        return self._kept.held[principal]

    def states(self) -> Counter[str]:
        """How many runs are in each of ``STATES``, by the first of them that applies."""
        with self._lock:
            now = self._clock()
            return Counter(state(run, now) for run in self._kept.runs)

    def knows(self, name: bytes) -> bool:
        """Whether there is a block of that name."""
        return name in self._kept.by_name

    def hold(self, names: Sequence[bytes], worst: Tier = TIERS[-1]) -> list[Span]:
        """The spans of the first of ``names`` that is known and no worse than ``worst``, from
        position 0 on, empty where none is; none of them goes before :meth:`let_go`.
        """
        with self._lock:
            known = filter(None, map(self._kept.by_name.get, names))
            found = next((one for one in known if not is_worse(one[0].tier, worst)), None)
            spans = [] if found is None else spans_to(*found)
            for span in spans:
                span.run.readers += 1
                self._kept.touch(span.run)
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
        found = self._kept.by_name.get(name)
        return None if found is None else found[0]

    def use(self, name: bytes) -> bool:
        """Whether there is a block of that name; its run counts as used now."""
        with self._lock:
            found = self._kept.by_name.get(name)
            if found is not None:
                self._kept.touch(found[0])
        return found is not None

    def room_for(self, owner: str, size: int, sparing: Run | None) -> bool:
        """Whether ``size`` bytes more fit, after others made way that ``sparing`` does not need."""
        with self._lock:
            return self._kept.make_room(owner, size, sparing)

    def add(self, run: Run) -> bool:
        """Keep ``run``; False when its blocks are known already, its parent has gone or there is no
        room.
        """
        with self._lock:
            parent = run.parent
            if parent is not None and parent not in self._kept.runs:
                return False
            # What follows worse rows is no better than they are.
            if parent is not None and is_worse(parent.tier, run.tier):
                return False
            if all(self._kept.known(name, run) for name in run.names.values()):
                return False
            if not self._kept.make_room(run.owner, run.size, parent):
                return False
            self._kept.insert(run)
            self._kept.touch(run)
            return True

    def pin(self, names: Sequence[bytes], most: int, seconds: float) -> int:
        """Keep the longest prefix that one of ``names`` names, for ``seconds`` from now; how many
        positions that are, 0 where none is known.

        ``most``: bytes that each owner of its runs may have pinned, a pin that goes on included.
        Raises PinsFull, and then nothing is pinned.
        """
        with self._lock:
            now = self._clock()
            found = next(filter(None, map(self._kept.by_name.get, names)), None)
            if found is None:
                return 0
            chain = ancestors(found[0])
            for owner in {run.owner for run in chain}:
                new = sum(run.size for run in chain if run.owner == owner and not run.pinned(now))
                left = room_for_pins(self._kept.runs, owner, now, most, self._limits.total)
                if new > left:
                    raise PinsFull(new, left)
            for run in chain:
                run.pinned_until = max(run.pinned_until, now + seconds)
                self._kept.touch(run)
            return found[1]

    def pinned_by(self, principal: str | None = None) -> int:
        """Bytes of the principal's runs that are pinned, of all without one."""
        with self._lock:
            return pinned_bytes(self._kept.runs, self._clock(), principal)

    def room_to_pin(self, principal: str, most: int) -> int:
        """Bytes that the principal may still pin, who may have ``most`` pinned."""
        with self._lock:
            return room_for_pins(
                self._kept.runs, principal, self._clock(), most, self._limits.total
            )

    def discard(self, runs: Iterable[Run]) -> int:
        """Drop ``runs`` and all that follow them, whoever reads them; how many went."""
        with self._lock:
            bad = {run for run in runs if run in self._kept.runs}
            gone = [run for run in self._kept.runs if bad & ancestors(run)]
            for run in gone:
                self._kept.drop(run, "discarded")
            return len(gone)

    def bound(self, most: int) -> None:
        """Have at most ``most`` bytes from now on, beside the limits."""
        with self._lock:
            self._kept.most = min(most, self._limits.total)
            self._kept.make_way(self._kept.most)

    def release(self, size: int) -> None:
        """Drop runs until ``size`` bytes are free that were not."""
        with self._lock:
            self._kept.make_way(self._kept.bytes - size)

    def sweep(self) -> None:
        """Drop what nobody used for longer than the limit."""
        with self._lock:
            now = self._clock()
            deadline = now - self._limits.ttl
            old = lambda run: run.used < deadline and not run.pinned(now)  # noqa: E731
            self._kept.evict("age", lambda: False, old)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop the runs of principals that are ``gone``, and what follows them."""
        with self._lock:
            self._kept.drop_all(run for run in self._kept.runs if gone(run.owner))

    def purge(self, owner: str, space: bytes | None = None) -> tuple[int, int]:
        """Drop the runs of ``owner``, with ``space`` those of one salt, and what follows them; how
        many of the owner's went, and their bytes.
        """
        with self._lock:
            runs, held = self._kept.counts[owner], self._kept.held[owner]
            mine = (run for run in self._kept.runs if run.owner == owner)
            self._kept.drop_all(run for run in mine if space in (None, run.space))
            return runs - self._kept.counts[owner], held - self._kept.held[owner]

    def cut(self, owner: str, names: Iterable[bytes], slack: int = 0) -> None:
        """Drop the blocks of these ``names`` from the runs of ``owner``, but for what other runs
        follow; ``slack``: as many positions behind the last of them go as well.
        """
        wanted = {*names}
        with self._lock:
            found = self._kept.blocks(wanted)
            cut = planned(owner, found, self._kept.runs, slack)
            for run in cut.gone:
                self._kept.drop(run, "forgotten")
            for run, end in cut.shorter.items():
                self._kept.unname(run, end)
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
            children = [other for other in self._kept.runs if other.parent is run]
            if run not in self._kept.runs or any(child.start > end for child in children):
                return
            if short is None:
                self._kept.drop_all([run])
                return
            self._kept.drop(run, "forgotten")
            for child in children:
                child.parent = short
            short.children = len(children)
            self._kept.insert(short)
