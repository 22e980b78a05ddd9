"""The messages of ``split.v1`` as values; ``codec`` translates them to and from frames.

Device to server: Open, Restore, Step, Splice, Close, Ping, Hide and Show of ``seeing``, and Find
of ``finding``. Server to device: Opened, Restored, Result, Closed, Pong, Failure, Hidden of
``seeing``, and Found of ``finding``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from split_wire.attention import (
    AttentionRequest,
    AttentionRows,
)
from split_wire.documents.chunks import Chunk
from split_wire.documents.finding import Find, Found
from split_wire.errors import (
    RemoteError,
    SplitError,
)
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.probe import Probe
from split_wire.returned import INTERACTIVE_ROWS, Rows, returned
from split_wire.splice import Kept, end_of
from split_wire.tensor import Tensor, WireDtype
from split_wire.tiers import ALL_EXACT, Cache, Inexact

VERSION = 1
SUBPROTOCOL = "split.v1"
CONTENT_TYPE = "application/vnd.gatelink.split.v1"
DEFAULT_MAX_ROWS = 512
# What a device believes of a server's announcement; it sizes buffers by these.
LARGEST_MAX_ROWS = 1 << 16
LARGEST_MAX_CONTEXT = 1 << 31
MAX_MESSAGE_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Open:
    """Ask for a session. ``manifest`` is the digest of the manifest whose ends the device holds.

    ``probe``: the prefixes that the session may begin with, where the dtype is asked for as well.
    ``cache_salt``: a word of the device's; what is kept of its sessions is found only by those that
    send the same. ``cache``: the worst tier that is kept and found; ``off``: nothing is.
    ``cache_group``: the name of a group of principals that share the first ``share_until``
    positions. ``wait``: whether a server that is full and has neighbours may let the device wait
    for a place, in place of refusing it at once.
    """

    manifest: str | None = None
    dtype: WireDtype | None = None
    version: int = VERSION
    capabilities: tuple[str, ...] = ()
    probe: Probe | None = None
    cache_salt: str | None = None
    cache: Cache = "exact"
    cache_group: str | None = None
    share_until: int = 0
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A session exists; hidden states travel in ``dtype``. Limits count rows and positions.

    ``layers`` and ``heads`` (of one layer) are those of the model's attention, 0 when the server
    does not say; they come with the capability ``attention``. ``cached`` positions of the probe are
    held already, and ``prefix`` is their chained digest. ``interactive_rows``: with so many rows a
    step is served as one of a single row is. ``tiers``: which of the cached positions are not
    exact. ``replica``: what the server that holds the session calls itself, None where it is the
    only one. ``streamed``: of the decoder layers, those that are read from disk in each pass.
    """

    session: str
    manifest: str
    dtype: WireDtype
    max_rows: int
    max_context: int
    version: int = VERSION
    capabilities: tuple[str, ...] = ()
    layers: int = 0
    heads: int = 0
    cached: int = 0
    prefix: bytes = b""
    interactive_rows: int = INTERACTIVE_ROWS
    tiers: Inexact = ALL_EXACT
    replica: str | None = None
    streamed: int = 0


@dataclass(frozen=True, slots=True)
class Restore:
    """Have a session hold as much of ``probe`` as the server has, and at least ``start`` positions.

    ``prefix`` is the chained digest of the first ``start`` positions, which the session holds.
    """

    session: str
    start: int
    prefix: bytes
    probe: Probe


@dataclass(frozen=True, slots=True)
class Restored:
    """The session holds ``cached`` positions whose chained digest is ``prefix``.

    ``start`` and ``known`` are those of the question; ``tiers``: which of the cached positions are
    not exact.
    """

    session: str
    start: int
    known: int
    cached: int
    prefix: bytes
    tiers: Inexact = ALL_EXACT


@dataclass(frozen=True, slots=True)
class Step:
    """Keep ``start`` cached positions, append ``embeddings`` [n, H].

    ``prefix`` is the chained digest of the positions kept (:class:`split_wire.digest.PrefixChain`).
    ``rows``: which states come back; a number counts the last ones, 1..n. ``attention`` asks for
    the attention of the last row as well. ``chunks``: those of the text that have rows of the step,
    which the server is to keep by what they say.
    """

    session: str
    step: int
    start: int
    prefix: bytes
    embeddings: Tensor
    rows: Rows = "last"
    adapter: str | None = None
    attention: AttentionRequest | None = None
    chunks: tuple[Chunk, ...] = ()

    @property
    def returned(self) -> int:
        """How many states come back."""
        return returned(self.rows, self.embeddings.rows)

    @property
    def end(self) -> int:
        """Positions that are cached afterwards."""
        return self.start + self.embeddings.rows


@dataclass(frozen=True, slots=True)
class Splice(Step):
    """A step that keeps ``spans`` of what lies behind ``start`` as well, at new places; its rows
    fill the positions between them and behind (:mod:`split_wire.splice`). It is numbered, repeated
    and answered as any other. With a ``blend`` it brings the rows of all positions behind
    ``start``, and that share of those that are kept is computed anew. ``sources``: the names of the
    chunks, 16 bytes each, whose rows the spans are, in place of the session's own; the old place of
    a span counts from the beginning of its chunk then.
    """

    spans: tuple[Kept, ...] = field(kw_only=True)
    blend: float = field(default=0.0, kw_only=True)
    sources: bytes = field(default=b"", kw_only=True)

    @property
    def end(self) -> int:
        """Positions that are cached afterwards."""
        return end_of(self.start, self.spans, self.embeddings.rows, self.blend)


@dataclass(frozen=True, slots=True)
class Result:
    """Final-norm hidden states [returned, H] of a step; times in microseconds.

    ``cached`` positions are held; ``prefix`` is their chained digest, empty when the server does
    not say. With it the device never takes the answer of one step for that of another.
    ``attention`` is there when the step asked for it. ``reused``: rows that were sent in vain,
    because the server had computed them before; ``tiers``: which of the cached positions are not
    exact.
    """

    session: str
    step: int
    cached: int
    hidden: Tensor
    compute_us: int = 0
    queue_us: int = 0
    prefix: bytes = b""
    attention: AttentionRows | None = None
    reused: int = 0
    tiers: Inexact = ALL_EXACT


@dataclass(frozen=True, slots=True)
class Close:
    """End a session; its cache is freed.

    ``keep``: false has nothing of it kept either, also not what was before; what others go on from
    stays. ``chunks``: names of some that go as well then, 16 bytes each.
    """

    session: str
    keep: bool = True
    chunks: bytes = b""


@dataclass(frozen=True, slots=True)
class Closed:
    """The session is gone (also when it was not there)."""

    session: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask for a Pong."""


@dataclass(frozen=True, slots=True)
class Pong:
    """Answer to Ping."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error with ``session`` and ``step`` where known. ``retry_after`` in seconds."""

    code: str
    message: str
    retryable: bool = False
    retry_after: float | None = None
    session: str | None = None
    step: int | None = None

    @classmethod
    def of(cls, error: SplitError, session: str | None = None, step: int | None = None) -> Failure:
        """The message that carries ``error``."""
        text = str(error)[:MAX_MESSAGE_TEXT]
        return cls(error.code, text, error.retryable, error.retry_after, session, step)

    def error(self) -> RemoteError:
        """The error to raise on the device."""
        return RemoteError(
            self.code, self.message, retryable=self.retryable, retry_after=self.retry_after
        )


ClientMessage: TypeAlias = Open | Restore | Step | Splice | Hide | Show | Find | Close | Ping
ServerMessage: TypeAlias = Opened | Restored | Result | Hidden | Found | Closed | Pong | Failure
Message: TypeAlias = ClientMessage | ServerMessage
