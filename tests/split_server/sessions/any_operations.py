"""Sessions of all tiers under random operations, over a model that is a function of the text."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import torch

from split_server.kv.block_key import Namespaces
from split_server.kv.cache import buffered
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.moving.splice import cut, lifted, lifted_from, put_down
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.keeper import DiskLimits
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.cache_groups import Share
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_wire.digest import PrefixChain
from split_wire.documents.chunks import Chunk, Named
from split_wire.errors import ChunkGone
from split_wire.hiding.spans import union, without
from split_wire.probe import Probe
from split_wire.splice import Kept, spliced
from split_wire.tensor import Tensor
from split_wire.tiers import TIERS, Tier
from tests.patience import PATIENCE

WIDTH = 8
GROUP = frozenset({"ann", "bob"})
# Texts begin alike and part at some position.
TEXTS, LONGEST = 6, 160
BRANCHES = (48, 80, 97)


@cache
def digest(text: int, position: int) -> bytes:
    """Of so many positions of a text, of which all begin alike."""
    shared = next((at for at in BRANCHES if position <= at), None)
    branch = 0 if shared == BRANCHES[0] else text % 2 if shared else text
    return blake2b(f"{branch} {position}".encode(), digest_size=16).digest()


def right(text: int, position: int) -> torch.Tensor:
    """Keys and values of a position, [2, WIDTH], as the plain computation gives them."""
    seed = int.from_bytes(digest(text, position)[:4], "little")
    return torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(seed))


# By text, [LONGEST, 2, WIDTH], and of all positions by their digests.
ROWS = [
    torch.stack([right(text, position) for position in range(1, LONGEST + 1)])
    for text in range(TEXTS)
]
BY_DIGEST = {
    digest(text, position): row
    for text in range(TEXTS)
    for position, row in enumerate(ROWS[text], 1)
}


class World:
    """Sessions of several principals over one pool and one disk; ``hides``: some of them have rows
    hidden from those that follow, which then are others than the text alone gives.
    """

    def __init__(self, folder: Path, seed: int, *, hides: bool = False) -> None:
        self.hides, self.hiding = hides, set[Session]()
        self.draw = random.Random(seed)  # noqa: S311 - whatever is done, not a secret
        self.folder, self.counts = folder, Counter[str]()
        self.sessions: list[tuple[Session, int]] = []
        self.used: Session | None = None
        # Rows of documents by their names.
        self.documents = dict[bytes, int]()
        self.begin()

    def begin(self) -> None:
        """As a new process does."""
        pool = RunPool(PoolLimits(total=48_000, per_principal=36_000))
        self.disk = DiskTier(self.folder / "kv", self.folder / "state", pool, DiskLimits(1 << 20))
        self.reuse = Reuse(
            pool, Namespaces("of the test", self.disk.salts), disk=self.disk, tiers=TIERS
        )
        self.reuse.start()
        assert self.disk.index.ready.wait(PATIENCE)

    def open(self) -> None:
        """A session of somebody, who takes some tier."""
        takes: Tier = self.draw.choice(TIERS)
        session = Session(self.draw.choice(("ann", "bob")), "key", PrefixChain("m"), "f32")
        share = Share("us", GROUP, 64) if self.draw.random() < 0.3 else None
        self.reuse.name(session, self.draw.choice((None, "s")), share, takes)
        self.sessions.append((session, self.draw.randrange(TEXTS)))
        if len(self.sessions) > 12:
            self.sessions.pop(0)

    async def extend(self, session: Session, text: int) -> None:
        """A step: cut back or go on, take in what is known, compute the rest."""
        start = self.kept(session, text)
        if self.draw.random() < 0.4:
            start = self.draw.randrange(start + 1)
        end = min(LONGEST, start + self.draw.randrange(1, 100))
        if end == start:
            return
        digests = [digest(text, at) for at in range(start + 1, end + 1)]
        await self.reuse.fetch(session, start, digests)
        held = self.reuse.taken_in(session, start, digests)
        self.counts[f"sent to {session.takes}"] += held - start
        self.compute(session, text, held, end)
        self.reuse.publish(session, start, digests)
        session.advance(start, digests)
        self.tell(session, text, start, end)

    def tell(self, session: Session, text: int, start: int, end: int) -> None:
        """Some of the rows that were just there are a document."""
        first = self.draw.randrange(start, end)
        chunk = Chunk(first, self.draw.randrange(1, end - first + 1))
        name = blake2b(f"{text} {chunk}".encode(), digest_size=16).digest()
        self.reuse.chunks.publish(session, [Named(chunk, name)])
        self.documents[name] = chunk.rows
        while len(self.documents) > 30:
            del self.documents[next(iter(self.documents))]

    def take(self, session: Session, text: int) -> None:
        """Rows of a document come behind those of another text."""
        start = self.draw.randrange(self.kept(session, text) + 1)
        for name, rows in self.draw.sample([*self.documents.items()], len(self.documents)):
            spans = [Kept(0, start, rows)]
            with suppress(ChunkGone):
                held = self.reuse.chunks.hold(session, spans, name)
                break
        else:
            return
        assert session.takes == "approximate"
        if start + rows > LONGEST:
            self.reuse.chunks.let_go(held)
            return
        cache, turned = buffered(session.cache), KeyRotation([None], torch.device("cpu"))
        [copy] = lifted_from([held[0].run], spans, turned, torch.device("cpu"))
        self.reuse.chunks.let_go(held)
        self.reuse.keep_cut_off(session, start)
        cut(cache, start, start + rows)
        put_down(cache, copy, start + rows, "documents")
        session.published = min(session.published, start)
        brought = Tensor("i8", (0, 0), b"", b"")
        names = spliced(session.chain, start, spans, brought, 0.0, name)
        session.advance(start, names)
        self.counts["documents"] += rows

    async def restore(self, session: Session, text: int) -> None:
        """A device asks for what is held of its text."""
        start = self.kept(session, text)
        chain = PrefixChain("m")
        end = self.draw.randrange(start + 1, LONGEST + 2)
        chain.replace(0, [digest(text, at) for at in range(1, end)])
        if len(chain) <= start:
            return
        spans = await self.reuse.found(session, start, Probe.of(chain))
        if spans:
            held = await self.reuse.restored(session, start, spans)
            self.counts[f"asked by {session.takes}"] += held - start
            self.reuse.pool.let_go(spans)

    def kept(self, session: Session, text: int) -> int:
        """Positions of ``text`` that the session begins with."""
        same = range(1, min(LONGEST, len(session.chain)) + 1)
        return sum(session.chain.at(at) == digest(text, at) for at in same)

    def compute(self, session: Session, text: int, start: int, end: int) -> None:
        """Rows as the model gives them behind those that are there."""
        cache = session.cache
        cache.truncate(start)
        rows = ROWS[text][start:end]
        off = torch.zeros(())
        if start:
            last = torch.stack([part[0, 0] for part in buffered(cache).rows(0, start - 1, start)])
            off = (last - ROWS[text][start - 1]).abs().max() + 3 * bool(cache.hidden)
        rows = (rows + off).permute(1, 0, 2)[:, None, None]
        cache.layer(0).append(rows[0], rows[1])
        cache.grown_to(end)

    async def splice(self, session: Session, text: int) -> None:
        """Rows of another place, as something that is only approximate puts them there."""
        start = self.kept(session, text)
        count = min(LONGEST - start, self.draw.randrange(1, 40))
        if session.takes != "approximate" or not count:
            return
        session.cache.truncate(start)
        rows = torch.full((1, 1, count, WIDTH), 9.0)
        session.cache.layer(0).append(rows, rows)
        session.cache.grown_to(start + count)
        session.cache.lineage.took_in("approximate", start)
        digests = [digest(text, at) for at in range(start + 1, start + count + 1)]
        self.reuse.publish(session, start, digests)
        session.advance(start, digests)

    def move(self, session: Session, text: int) -> None:
        """An edit: rows of the session go to another place, and more is computed behind them."""
        held = session.cache.length
        start = self.draw.randrange(self.kept(session, text) + 1)
        if session.takes != "approximate" or held != len(session.chain) or held - start < 2:
            return
        old = self.draw.randrange(start, held)
        span = Kept(old, start + self.draw.randrange(9), self.draw.randrange(1, held - old + 1))
        end = span.new + span.rows
        if end + 20 > LONGEST:
            return
        cache = buffered(session.cache)
        self.reuse.keep_cut_off(session, start)
        [copy] = lifted(cache, [span], KeyRotation([None], torch.device("cpu")))
        cut(cache, start, end)
        if span.new > start:
            self.compute(session, text, start, span.new)
        put_down(cache, copy, end)
        session.published = min(session.published, start)
        plain = [digest(text, at) for at in range(start + 1, span.new + 1)]
        names = spliced(
            session.chain, start, (span,), Tensor("i8", (len(plain), 0), b"", bytes(4 * len(plain)))
        )
        session.advance(start, [*plain, *names[len(plain) :]])
        self.compute(session, text, end, end + 20)
        behind = [blake2b(names[-1] + bytes([at]), digest_size=16).digest() for at in range(20)]
        self.reuse.publish(session, end, behind)
        session.advance(end, behind)
        self.counts["moved"] += span.rows

    def hide(self, session: Session) -> None:
        """Some rows are hidden, others are shown again."""
        length, cache = session.cache.length, buffered(session.cache)
        if length < 8:
            return
        self.reuse.keep(session)
        start = self.draw.randrange(4, length)
        span = ((start, self.draw.randrange(start, length) + 1),)
        cache.hide((union if self.draw.random() < 0.6 else without)(cache.hidden, span))
        self.hiding.add(session)
        self.counts["hidden"] += 1

    async def park(self) -> None:
        """A session ends and is kept."""
        session, _ = self.sessions.pop(self.draw.randrange(len(self.sessions)))
        self.reuse.park(session, lambda: None)
        await self.settled()

    async def forget(self, session: Session) -> None:
        """A text is deleted, or all of a principal's."""
        if self.draw.random() < 0.7:
            await self.reuse.erase(session, [each for each, _ in self.sessions])
            self.sessions = [(each, text) for each, text in self.sessions if each is not session]
        else:
            await self.reuse.purge(session.principal, self.draw.choice((None, "s")))

    async def settled(self) -> None:
        while self.reuse.parking:
            await asyncio.gather(*self.reuse.parking)

    async def restart(self) -> None:
        """The process ends, with what it holds on disk, and begins again."""
        await self.reuse.flush([session for session, _ in self.sessions])
        self.reuse.close()
        self.sessions.clear()
        self.begin()

    async def one(self) -> None:
        """One random operation."""
        chance = self.draw.random()
        if not self.sessions or chance < 0.12:
            self.open()
            return
        session, text = self.draw.choice(self.sessions)
        self.used = session
        if self.hides and self.draw.random() < 0.15:
            self.hide(session)
            return
        if chance < 0.17:
            text = self.draw.randrange(TEXTS)
            self.sessions = [(s, text if s is session else t) for s, t in self.sessions]
        elif chance < 0.62:
            await self.extend(session, text)
        elif chance < 0.82:
            await self.restore(session, text)
        elif chance < 0.85:
            await self.splice(session, text)
        elif chance < 0.88:
            mine = [each for each in self.sessions if each[0].takes == "approximate"]
            session, text = self.draw.choice(mine or [(session, text)])
            self.used = session
            self.move(session, text)
        elif chance < 0.91 and self.documents:
            mine = [each for each in self.sessions if each[0].takes == "approximate"]
            session, text = self.draw.choice([*mine, (session, text)])
            self.used = session
            self.take(session, text)
        elif chance < 0.97:
            await self.park()
        elif chance < 0.98:
            await self.forget(session)
        elif chance < 0.995:
            self.reuse.pool.release(self.draw.randrange(30_000))
        else:
            await self.disk.flush()

    def check(self, *, all_of_them: bool) -> None:
        """What sessions hold, or the one that was last in use, is no worse than their lineage says,
        and that no worse than they take.
        """
        for session, _ in self.sessions:
            if not all_of_them and session is not self.used:
                continue
            length = session.cache.length
            inexact = session.cache.lineage.inexact(length)
            exact = length - inexact.total
            if session not in self.hiding:
                assert TIERS.index(session.cache.lineage.tier) <= TIERS.index(session.takes)
                assert exact == length or session.takes != "exact"
            if not exact:
                continue
            rows = buffered(session.cache).rows(0, 0, exact)
            held = torch.stack([part[0] for part in rows], 1)
            named = map(session.chain.at, range(1, exact + 1))
            wanted = torch.stack([*map(BY_DIGEST.__getitem__, named)])
            assert torch.equal(held, wanted), session.takes
