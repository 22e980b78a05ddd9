"""The sessions of one connection, the first of which may be asked for ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from split_client.model.cache_salt import cache_salt
from split_client.model.wanted import Wanted
from split_client.noise.backend import OneDtypeBackend
from split_client.transport.channel import Channel
from split_client.transport.remote import BUSY_PATIENCE, RemoteBackend
from split_client.weights.manifest import Manifest
from split_wire.tiers import Cache


@dataclass(slots=True)
class Sessions:
    """``salt``: the word that divides what the server keeps among its users, None where it needs
    none; ``share``: a group, and how many positions are shared with it.
    """

    channel: Channel
    manifest: Manifest
    noised: bool
    pause: Callable[[float], None]
    cache: Cache = "exact"
    salt: str | None = None
    share: tuple[str | None, int] = (None, 0)
    _first: RemoteBackend | None = field(default=None, init=False)

    @classmethod
    def of(
        cls, wanted: Wanted, manifest: Manifest, channel: Channel, pause: Callable[[float], None]
    ) -> Sessions:
        """Those of ``wanted`` over ``channel``."""
        made = cls(channel, manifest, wanted.noise is not None, pause, wanted.server_cache)
        if wanted.server_cache != "off":
            made.salt = cache_salt(wanted.token)
            # Noised rows are nobody else's, so there is nothing to share.
            if not made.noised:
                made.share = wanted.cache_group, wanted.share_until
        return made

    def prepare(self) -> None:
        """Ask for the session that :meth:`next` returns, without waiting for the answer."""
        self._first = self._new()
        self._first.prepare()

    def next(self) -> RemoteBackend:
        """A session of its own."""
        first, self._first = self._first, None
        return self._new() if first is None else first

    def apart(self) -> RemoteBackend:
        """A session of which nothing is kept, and for which nothing is found."""
        return self._made("off", None, (None, 0))

    def close(self) -> None:
        """End the session that was asked for and that nobody has taken."""
        first, self._first = self._first, None
        if first is not None:
            first.close()

    def _new(self) -> RemoteBackend:
        return self._made(self.cache, self.salt, self.share)

    def _made(self, cache: Cache, salt: str | None, share: tuple[str | None, int]) -> RemoteBackend:
        kind = OneDtypeBackend if self.noised else RemoteBackend
        return kind(
            self.channel,
            self.manifest.hidden_size,
            self.manifest.digest,
            self.manifest.max_context,
            cache_salt=salt,
            cache=cache,
            cache_group=share[0],
            share_until=share[1],
            busy_patience=min(BUSY_PATIENCE, self.channel.patience.total),
            pause=self.pause,
        )
