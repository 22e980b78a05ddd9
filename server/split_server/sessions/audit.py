"""A share of what would be taken in is computed instead, and what is kept compared with it.

Where it is wrong, its chain is dropped; whose chains are wrong again and again has nothing kept
any more, and where that is so of several, nobody has.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping

from split_server.kv.cache import buffered
from split_server.kv.comparing import largest_difference
from split_server.kv.run import Span
from split_server.kv.run_pool import RunPool
from split_server.sessions.session import Session
from split_wire.tiers import Tier, worse

OUTCOMES = ("passed", "failed", "unfinished")
# Failures after which a principal has nothing kept; principals with a failure after which nobody
# has.
MOST_FAILURES = 3
MOST_PRINCIPALS = 3
_log = logging.getLogger(__name__)


class Audit:
    """``share`` of what is known is computed all the same, ``bounds``: by tier the largest relative
    difference of a block of keys or values that is right.

    ``draw``: a random number in [0, 1). On the model thread, but for what is said to be read from
    any.
    """

    def __init__(
        self,
        pool: RunPool,
        share: float,
        bounds: Mapping[Tier, float],
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._pool = pool
        self._share = share
        self._bounds = bounds
        self._draw = draw
        # Told the names of blocks that are wrong, wherever else they are kept.
        self.also_removed: Callable[[list[bytes]], object] = lambda _: None
        self._open: dict[Session, list[Span]] = {}
        self._failures: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def stopped(self, owner: str) -> bool:
        """Whether nothing of ``owner`` is kept or found any more. From any thread."""
        if len(self._failures) >= MOST_PRINCIPALS:
            return True
        return self._failures[owner] >= MOST_FAILURES

    def takes(self, session: Session, start: int, spans: list[Span]) -> bool:
        """Whether the step of ``session`` that begins at ``start`` is to compute what ``spans``
        hold; they are then let go by :meth:`settle`.
        """
        if session in self._open:
            # It looked before it waited for another step.
            self._pool.let_go(spans)
            return True
        if not session.audited or not spans or spans[-1].end <= start:
            return False
        cache = session.cache
        if cache.hidden or cache.lineage.nameless:
            # What it computes is not what is kept.
            return False
        if self._draw() >= self._share:
            return False
        # A cache that was emptied on the way is compared from the position where the step begins.
        self._open[session] = [span for span in spans if span.end > start]
        self._pool.let_go(span for span in spans if span.end <= start)
        return True

    def settle(self, session: Session, start: int, *, succeeded: bool) -> None:
        """The step of ``session`` that began at ``start`` has ended. Raises nothing."""
        spans = self._open.pop(session, None)
        if spans is None:
            return
        try:
            self._judge(session, start, spans, succeeded=succeeded)
        # An audit must not cost an answer.
        except Exception as error:  # noqa: BLE001
            self.counts["unfinished"] += 1
            _log.warning("an audit of kept keys and values ended early: %s", type(error).__name__)
        finally:
            self._pool.let_go(spans)

    def _judge(self, session: Session, start: int, spans: list[Span], *, succeeded: bool) -> None:
        if not succeeded or session.cache.length < spans[-1].end:
            self.counts["unfinished"] += 1
            return
        cache = buffered(session.cache)
        by_tier: dict[Tier, list[Span]] = {}
        for span in spans:
            # What is computed on rows that are not exact is no better than they are.
            tier = worse(span.run.tier, cache.lineage.tier)
            by_tier.setdefault(tier, []).append(span)
        for tier, some in by_tier.items():
            found = largest_difference(cache, some, start)
            if found > self._bounds[tier]:
                self.counts["failed"] += 1
                self._dropped(spans, found, self._bounds[tier])
                return
        self.counts["passed"] += 1

    def _dropped(self, spans: list[Span], found: float, bound: float) -> None:
        owners = {span.run.owner for span in spans}
        gone = self._pool.discard([span.run for span in spans])
        # After that, so that nothing of it is written once more.
        self.also_removed([name for span in spans for name in span.run.names.values()])
        _log.error(
            "kept keys and values differ by %.2g from computed ones (bound %.2g): %d runs dropped",
            found,
            bound,
            gone,
        )
        for owner in owners:
            self._failures[owner] += 1
            if self._failures[owner] == MOST_FAILURES:
                _log.error("nothing is kept for %s any more, after %d", owner, MOST_FAILURES)
                self._pool.forget(lambda name, owner=owner: name == owner)  # type: ignore[misc]
        if len(self._failures) >= MOST_PRINCIPALS:
            _log.error("nothing is kept for anybody any more: %d principals", MOST_PRINCIPALS)
            self._pool.forget(lambda _: True)
