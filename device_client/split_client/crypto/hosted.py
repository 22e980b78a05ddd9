"""Adapters of a host that computes on ciphertexts; the model's server is told nothing of them."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Protocol

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.errors import UnknownAdapter
from split_client.adapters.listing import MAX_BYTES, parse_listing
from split_client.adapters.masks import MaskStats
from split_client.crypto.adapter import HostedAdapter
from split_client.crypto.ahead import Ahead
from split_client.crypto.errors import AdapterHostInvalid
from split_client.crypto.link import HostLink
from split_client.crypto.making import MaskMaker
from split_client.crypto.reply import AdaptedReply
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Patience
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers


class Model(Protocol):
    """The facts of the model's manifest that decide which adapters fit."""

    @property
    def hidden_size(self) -> int: ...


class HostedAdapters:
    """Implements :class:`split_client.adapters.choice.Adapters`.

    Adapters for another hidden size than the model's are left out. ``token`` None: that of a
    paired host. ``masks``: how many to have ready for each reply. ``pause`` waits and may raise
    Cancelled. Raises UrlInvalid, TokenInvalid, KnownServersDamaged, and what asking for the list
    raises (``crypto.errors``, AdapterListInvalid).
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        model: Model,
        *,
        patience: Patience | None = None,
        masks: int = 0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        endpoint = Endpoint.parse(url)
        token = token or _paired(endpoint)
        self._pause = pause
        self._link = HostLink(endpoint, token, patience, pause=pause)
        self._ahead = Ahead(lambda wait: HostLink(endpoint, token, patience, pause=wait))
        self._maker = MaskMaker(masks, self._ahead.begin)
        self._adapters: dict[str, HostedAdapter] = {}
        self._replies: weakref.WeakSet[AdaptedReply] = weakref.WeakSet()
        try:
            self.available = self._fitting(model)
        except BaseException:
            self.close()
            raise

    @property
    def traffic(self) -> tuple[int, int]:
        """Bytes of bodies sent to the host and received from it."""
        now, ahead = self._link.traffic, self._ahead.traffic
        return now.sent + ahead.sent, now.received + ahead.received

    @property
    def masks(self) -> MaskStats:
        """What masks did so far."""
        ready = sum(adapter.ready_masks for adapter in self._adapters.values())
        tally = self._maker.tally
        return MaskStats(
            self._maker.wanted,
            ready,
            tally.made,
            tally.used,
            tally.lost,
            tally.encrypted,
            tally.reason,
        )

    def use(self, name: str | None, sequence: Sequence) -> None:
        """Have ``sequence`` correct one reply's hidden states with that adapter, or (None) none.

        The keys of the reply before are forgotten. Raises UnknownAdapter and, where keys or B are
        still missing, ``crypto.errors``.
        """
        before, sequence.adapter, sequence.correct = sequence.correct, None, None
        if isinstance(before, AdaptedReply):
            before.end()
        if name is None:
            return
        adapter = self._adapters.get(name) or self._new(name)
        reply = adapter.reply()
        self._adapters[name] = adapter
        self._replies.add(reply)
        sequence.correct = reply

    def prepare(self, name: str) -> None:
        """Have keys and masks made for the first reply, where masks are wanted."""
        if self._maker.wanted and any(about.name == name for about in self.available):
            self._adapters.setdefault(name, self._new(name)).prepare_next()

    def close(self) -> None:
        """Forget keys and matrices, close the connections; safe to call twice."""
        for reply in list(self._replies):
            reply.end()
        for adapter in self._adapters.values():
            adapter.close()
        self._adapters.clear()
        self._ahead.close()
        self._link.close()

    def _new(self, name: str) -> HostedAdapter:
        for about in self.available:
            if about.name == name:
                return HostedAdapter(self._link, about, self._ahead, self._maker, pause=self._pause)
        raise UnknownAdapter(name, [about.name for about in self.available])

    def _fitting(self, model: Model) -> tuple[AdapterInfo, ...]:
        offered = parse_listing(self._link.ask("GET", "", MAX_BYTES))
        if not all(about.encrypted for about in offered):
            raise AdapterHostInvalid("it offers adapters in the clear, so it is no adapter host")
        return tuple(about for about in offered if about.hidden_size == model.hidden_size)


def _paired(endpoint: Endpoint) -> str | None:
    """The token that pairing brought. Raises KnownServersDamaged."""
    known = KnownServers().find(endpoint)
    return None if known is None else known.token
