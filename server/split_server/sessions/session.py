"""What the server keeps of one session."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from split_server.kv.cache import KVCache
from split_wire.session import SessionState
from split_wire.tensor import WireDtype


@dataclass(eq=False, slots=True)
class Session:
    """``reserved``: bytes of KV cache set aside for it; ``promised``: bytes by which the reply to
    the step under way may exceed the one that is kept; ``running``: steps that are under way.

    ``lock`` is held while a message is admitted; ``reply`` becomes the reply frame of the last
    admitted step.
    """

    principal: str
    key: str
    state: SessionState
    dtype: WireDtype
    cache: KVCache = field(default_factory=KVCache)
    reserved: int = 0
    promised: int = 0
    running: int = 0
    last_used: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reply: asyncio.Future[bytes] | None = None

    @property
    def bytes(self) -> int:
        """Bytes this session counts with: its cache and the reply it keeps for a replay."""
        return self.reserved + self.promised + self.state.reply_bytes
