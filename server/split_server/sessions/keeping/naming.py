"""Under which names sessions keep what they compute, and under which they look for it."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from split_server.kv.block_key import BLOCK, PUBLIC, BlockNames, Namespaces
from split_server.kv.group_names import GroupNames
from split_server.kv.lineage import tiers_to
from split_server.sessions.audit import Audit
from split_server.sessions.cache_groups import Share
from split_server.sessions.session import Session
from split_wire.tiers import Tier

_APART_BYTES = 16


class Naming:
    """``namespaces`` give the names; ``strangers``: principals that many people may be, for whom
    nothing is kept without a salt; ``public``: what ``PUBLIC`` publishes is found by everybody;
    ``audit``: says for whom nothing is kept any more; ``tiers``: those that are kept here.
    """

    def __init__(
        self,
        namespaces: Namespaces,
        strangers: frozenset[str],
        *,
        public: bool,
        audit: Audit | None,
        tiers: tuple[Tier, ...] = ("exact",),
    ) -> None:
        self._namespaces = namespaces
        self._strangers = strangers
        self._public = namespaces.of(PUBLIC) if public else None
        self._audit = audit
        self._tiers = tiers

    def of(self, principal: str, salt: str | None) -> BlockNames | None:
        """Under which a session of ``principal`` publishes and finds; None where it does not."""
        if not salt and principal in self._strangers:
            return None
        return self._namespaces.of(principal, salt or "")

    def found_by(self, names: BlockNames) -> tuple[BlockNames, ...]:
        """Under which whoever publishes under ``names`` looks."""
        return (names,) if self._public is None else (names, self._public)

    def apart(self, principal: str) -> BlockNames:
        """Names of a session of ``principal`` that nobody else publishes or finds."""
        return self._namespaces.of(principal, secrets.token_hex(_APART_BYTES))

    def name(
        self,
        session: Session,
        salt: str | None,
        share: Share | None = None,
        takes: Tier = "exact",
    ) -> None:
        """What ``session`` computes is kept for sessions of its principal and ``salt``, what it
        ``share``-s for those of the group; it finds that and what is public, in no worse tier than
        it ``takes``.
        """
        offered = [tier for tier in tiers_to(takes) if tier in self._tiers]
        session.takes = offered[-1]
        session.keeps = "int8" if "int8" in offered else "exact"
        own, public = self.of(session.principal, salt), self._public
        if own is not None and share is not None and share.until >= BLOCK:
            group = self._namespaces.of_group(session.principal, share.name, share.members)
            own = GroupNames.of(own, group, share.until - share.until % BLOCK)
        session.names = own
        if public is not None and (own is None or own.owner != PUBLIC):
            session.finds = (public,) if own is None else (own, public)
        else:
            session.finds = () if own is None else (own,)

    def is_shared(self, principal: str) -> bool:
        """Whether many people may be ``principal``."""
        return principal in self._strangers

    def space(self, principal: str, salt: str) -> bytes:
        """What the blocks of ``principal`` under ``salt`` are told apart by."""
        return self._namespaces.of(principal, salt).space

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Have principals that are ``gone`` get other names when they come again."""
        self._namespaces.forget(gone)

    def stopped(self, principal: str) -> bool:
        """Whether nothing is kept for ``principal`` since audits of it failed."""
        return self._audit is not None and self._audit.stopped(principal)

    def publishes(self, session: Session) -> BlockNames | None:
        """Under which the session publishes now. Nothing where rows were moved, or computed while
        others were hidden: nobody who looks for its text would find it, and nobody could have it
        deleted.
        """
        names = session.names
        if names is None or session.withheld or self.stopped(names.owner):
            return None
        if session.cache.lineage.moved:
            return None
        return names.in_tier(session.tier)

    def looks(self, session: Session, worst: Tier | None = None) -> list[BlockNames]:
        """Under which the session looks now, in no worse tier than the ``worst``, by default the
        one that it takes; the best tier first.
        """
        finds = [names for names in session.finds if not self.stopped(names.owner)]
        found = []
        for tier in tiers_to(worst or session.takes):
            # What is public is exact.
            own = (names for names in finds if tier == "exact" or names.owner != PUBLIC)
            found += [names.in_tier(tier) for names in own] if tier in self._tiers else []
        return found
