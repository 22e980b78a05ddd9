"""A session as the server keeps it: whose it is, its cache, and the chain that names the cache."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TypeAlias

from split_server.kv.block_key import BlockNames
from split_server.kv.cache import KVCache
from split_server.kv.session_cache import SessionCache
from split_server.sessions.erasure import Erasure
from split_server.sessions.traces import Traces
from split_wire.digest import PrefixChain
from split_wire.session import SessionState
from split_wire.tensor import WireDtype
from split_wire.tiers import Inexact, Tier, worse

Digests: TypeAlias = list[bytes]


@dataclass(eq=False, slots=True)
class Framing:
    """A session's part in ``split.v1``: ``state`` decides about its step messages.

    ``lock`` is held while a message is admitted; ``reply`` becomes the reply frame of the last
    admitted step.
    """

    state: SessionState
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reply: asyncio.Future[bytes] | None = None


@dataclass(eq=False, slots=True, weakref_slot=True)
class Session:
    """``chain``: digests of every prefix of the rows in ``cache``; both hold the same positions
    while no step runs.

    ``reserved``: bytes of KV cache set aside for it; ``promised``: bytes by which the reply to the
    step under way may exceed the one that is kept; ``running``: steps that are under way;
    ``since``: the number of the use that goes on, later ones are higher; ``resting``: its client
    does not go on at once; ``claiming``: a step under its client's own name waits for memory;
    ``framing``: of a session whose steps come in frames; ``names``: under which its keys and values
    are kept for later sessions, None where they are not; ``finds``: under which it looks for what
    is kept; ``takes``: the worst tier of that which it takes, and ``keeps``: the one in which it
    has its own kept as long as it stands on no worse one; ``apart``: its names where no other
    session has them; ``audited``: a share of what it finds is computed all the same; ``to_disk``:
    what it computes may be kept there; ``published``: positions that are kept; ``guessed_at``:
    where rows begin that its latest step may have guessed, None where it has none: what a device
    takes back of them was never part of a text; ``traces``: what else is kept of it; ``erased_as``:
    the names under which nothing of it shall stay once its step has ended; ``withheld``: the text
    that it holds was forgotten, so nothing of it is kept any more; ``undecided``: what was
    forgotten while its step ran, which may end with that text.
    """

    principal: str
    key: str
    chain: PrefixChain
    dtype: WireDtype
    cache: SessionCache = field(default_factory=KVCache)
    reserved: int = 0
    promised: int = 0
    running: int = 0
    last_used: float = 0.0
    since: int = 0
    resting: bool = False
    claiming: bool = False
    framing: Framing | None = None
    names: BlockNames | None = None
    finds: tuple[BlockNames, ...] = ()
    takes: Tier = "exact"
    keeps: Tier = "exact"
    apart: BlockNames | None = None
    audited: bool = True
    to_disk: bool = True
    published: int = 0
    guessed_at: int | None = None
    traces: Traces = field(default_factory=Traces)
    erased_as: BlockNames | None = None
    withheld: bool = False
    undecided: list[Erasure] = field(default_factory=list)

    @property
    def tier(self) -> Tier:
        """In which what it holds is kept."""
        return worse(self.keeps, self.cache.lineage.tier)

    @property
    def inexact(self) -> Inexact:
        """Of the positions that it holds."""
        return self.cache.lineage.inexact(self.cache.length)

    @property
    def reply_bytes(self) -> int:
        """Bytes of the reply that is kept for a replay."""
        return 0 if self.framing is None else self.framing.state.reply_bytes

    @property
    def bytes(self) -> int:
        """Bytes this session counts with: its cache, the names of what it held, and the reply it
        keeps for a replay.
        """
        named = self.chain.size + self.traces.size
        return self.reserved + self.promised + self.reply_bytes + named

    @property
    def sure(self) -> int:
        """Positions that are no guesses."""
        end = len(self.chain)
        return end if self.guessed_at is None else min(self.guessed_at, end)

    def advance(self, start: int, digests: Digests) -> None:
        """The cache now holds ``start`` positions and the rows that ``digests`` name."""
        self.chain.replace(start, digests)

    def fall_back(self) -> None:
        """A step failed; the chain names what is left of the cache."""
        self.chain.truncate(min(self.cache.length, len(self.chain)))
