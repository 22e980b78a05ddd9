"""What a device knows of its session: the agreement, the rows that are held, and what was sent."""

from __future__ import annotations

from split_wire.attention import (
    CAPABILITY,
    LAYERS_CAPABILITY,
    AttentionRequest,
    attention_bytes,
)
from split_wire.client.events import ProtocolStateError
from split_wire.client.narrowing import widened
from split_wire.digest import PrefixChain
from split_wire.errors import Unsupported
from split_wire.hiding.spans import CAPABILITY as SPANS
from split_wire.hiding.spans import Spans, cut
from split_wire.limits import frame_limit
from split_wire.messages import Opened
from split_wire.probe import CAPABILITY as RESTORE
from split_wire.returned import CAPABILITY as ROWS
from split_wire.splice import BLEND
from split_wire.splice import CAPABILITY as SPLICE
from split_wire.tensor import WireDtype
from split_wire.tiers import Cache
from split_wire.under_way import StepsUnderWay


class HeldSession:
    """One session at a time, any number in a row; what is sent and received changes it.

    ``manifest`` is the digest of the manifest whose ends the device holds; ``dtype`` is asked of
    the server, None = the server's own; ``cache_salt``, ``cache``, ``cache_group`` and
    ``share_until`` go with every ``open``.
    """

    def __init__(
        self,
        hidden_size: int,
        manifest: str,
        dtype: WireDtype | None = None,
        cache_salt: str | None = None,
        cache: Cache = "exact",
        cache_group: str | None = None,
        share_until: int = 0,
    ) -> None:
        self._hidden_size = hidden_size
        self._manifest = manifest
        self._dtype = dtype
        self._salt, self._cache = cache_salt, cache
        self._group, self._share_until = cache_group, share_until
        self._opened: Opened | None = None
        self._next_step = 1
        self._steps = StepsUnderWay()
        self._outstanding: bytes | None = None
        # What was asked for, and the positions that are held whatever is answered.
        self._asked: tuple[PrefixChain, int] | None = None
        self._chain = PrefixChain(manifest)
        self._hidden: Spans = ()

    @property
    def opened(self) -> Opened | None:
        """The agreement with the server, None before and after a session."""
        return self._opened

    @property
    def cached(self) -> int:
        """Positions that the server holds as far as the device knows."""
        return len(self._chain)

    @property
    def outstanding(self) -> bytes | None:
        """The frame that awaits its answer, the first of them where there are several."""
        return next(iter(self.unanswered), None)

    @property
    def unanswered(self) -> list[bytes]:
        """The frames that await their answers, to send again after a lost connection."""
        return self._steps.frames if self._outstanding is None else [self._outstanding]

    @property
    def stepping(self) -> bool:
        """Whether what is outstanding are steps."""
        return len(self._steps) > 0

    @property
    def reach(self) -> int:
        """Positions that the server holds once all steps under way went through."""
        return self._steps.last.end if self._steps else self.cached

    def ask_for(self, dtype: WireDtype) -> None:
        """Open further sessions in ``dtype`` and accept no other."""
        self._dtype = dtype

    @property
    def restores(self) -> bool:
        """Whether the server of the open session can be asked for what it holds."""
        return self._opened is not None and RESTORE in self._opened.capabilities

    @property
    def splices(self) -> bool:
        """Whether the open session takes edits inside a prompt."""
        return self._opened is not None and SPLICE in self._opened.capabilities

    @property
    def blends(self) -> bool:
        """Whether it computes a share of the rows anew that an edit keeps."""
        return self._opened is not None and BLEND in self._opened.capabilities

    @property
    def counts_rows(self) -> bool:
        """Whether a step of the open session may ask for the last so many states."""
        return self._opened is not None and ROWS in self._opened.capabilities

    @property
    def hides(self) -> bool:
        """Whether rows of the open session may be hidden."""
        return self._opened is not None and SPANS in self._opened.capabilities

    @property
    def hidden(self) -> Spans:
        """Positions whose rows no later row sees, as far as the device knows."""
        return self._hidden

    def new_chain(self) -> PrefixChain:
        """An empty chain of this model's rows."""
        return PrefixChain(self._manifest)

    def forget(self) -> None:
        """The session is lost: nothing is cached and nothing is outstanding."""
        self._opened, self._outstanding, self._asked = None, None, None
        self._steps.clear()
        self._next_step = 1
        self._chain, self._hidden = PrefixChain(self._manifest), ()

    def give_up(self) -> None:
        """A restore stays without an answer: no more than its ``start`` positions are held for
        certain. Nothing happens where none is outstanding.
        """
        if self._asked is None or self._opened is None:
            return
        chain, start = self._asked
        chain.truncate(start)
        self._chain, self._asked, self._outstanding = chain, None, None
        self._hidden = cut(self._hidden, start)

    def answer_room(self, rows: int) -> int:
        """Bytes of the longest answer that brings the states of ``rows``."""
        return frame_limit(self._hidden_size, rows)

    def attention_room(self, request: AttentionRequest, positions: int) -> int:
        """Bytes of the longest answer that brings the attention over ``positions`` cached ones.

        Raises ProtocolStateError, Unsupported, AttentionTooLarge, and MalformedMessage for a layer
        that the model does not have.
        """
        opened = self._opened
        if opened is None:
            raise ProtocolStateError("attention needs an open session")
        if CAPABILITY not in opened.capabilities or not opened.layers or not opened.heads:
            raise Unsupported("attention")
        request.layers_of(opened.layers)
        asked = self.asked_for(request)
        size = attention_bytes(asked, opened.layers, opened.heads, positions)
        return frame_limit(self._hidden_size, opened.max_rows) + size

    def asked_for(self, request: AttentionRequest) -> AttentionRequest:
        """What the server of the open session is asked for; the device makes ``request`` of it."""
        known = self._opened is not None and LAYERS_CAPABILITY in self._opened.capabilities
        return request if known or not request.names_layers else widened(request)
