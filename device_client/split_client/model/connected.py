"""A model that is connected: its ends opened here, a channel to its middle, noise if it is on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from split_client.errors import NotASplitServer, ServerRefused
from split_client.generation.documents.cutting import Cutter
from split_client.generation.sequence import Sequence
from split_client.generation.steps import Embed
from split_client.generation.trail import SHORTEST
from split_client.model.ends import DeviceEnds, derives
from split_client.model.forgetting import Forgotten, forget
from split_client.model.sessions import Sessions
from split_client.model.wanted import Wanted
from split_client.noise.calibration import Table
from split_client.noise.conversation import NoisedConversation, bound, never_plain
from split_client.noise.mode import NoiseMode
from split_client.noise.rules import without_penalty
from split_client.noise.settings import NoiseSettings
from split_client.transport.channel import Channel, Reconnecting
from split_client.transport.connect import connector
from split_client.transport.early import EarlySocket, begun_early
from split_client.transport.known import KnownServers
from split_client.transport.remote import RemoteBackend
from split_client.transport.routing.route import Route
from split_client.transport.served.errors import ModelsNotListed
from split_client.transport.served.listing import fetch_served
from split_client.transport.served.loading import when_loaded
from split_client.weights.download import WeightsSource
from split_client.weights.manifest import Manifest
from split_client.weights.pull import Progress, fetch_manifest, pull
from split_client.weights.store import ModelStore, StoredModel
from split_client.weights.turn import PATIENCE, Turn
from split_wire.errors import NotFound
from split_wire.limits import frame_limit

_NO_SUCH_ADDRESS = (NotFound.code, NotASplitServer.code)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Listeners while a model connects and runs; ``pause`` waits and may be cancelled.

    ``prepare``: before the LM head's file is derived, ``calibrate``: before the numbers of noise.
    """

    manifest: Callable[[Manifest, bool], None]
    progress: Callable[[Progress], None]
    prepare: Callable[[], None]
    calibrate: Callable[[], None]
    notice: Callable[[Reconnecting], None]
    pause: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class _Kept:
    """``embed``: makes the rows by which what is kept of a sequence is named, None: none may."""

    backend: RemoteBackend
    embed: Embed | None


class ConnectedModel:
    """Owns what is open; :meth:`close` ends the sessions of its sequences first."""

    def __init__(
        self, ends: DeviceEnds, sessions: Sessions, noise: NoiseMode | None, opened: ExitStack
    ) -> None:
        self.ends = ends
        self.channel = sessions.channel
        self.noise = noise
        self._sessions = sessions
        self._opened = opened
        self._cutter = Cutter(ends.tokenizer)
        # A chat that nobody holds any more leaves its session to the server's idle limit.
        self._sequences: WeakKeyDictionary[Sequence, _Kept] = WeakKeyDictionary()

    @classmethod
    def open(
        cls, wanted: Wanted, store: ModelStore, hooks: Hooks, *, begin: bool = False
    ) -> ConnectedModel:
        """Find out which model is served, pull its ends if they are not here, open them.

        Meanwhile a WebSocket is opened; ``begin``: the session of the first sequence is asked for
        as soon as the model is known, so that it is there when the ends are.

        Raises the errors of ``split_client.errors``, ``split_client.generation.errors`` and, with
        noise, those of ``split_client.noise.errors``.
        """
        with ExitStack() as opening:
            route = Route(KnownServers().routing_id(wanted.endpoint))
            early = _early(wanted, route)
            if early is not None:
                opening.callback(early.close)
            stored = _stored(wanted, store, hooks)
            channel = new_channel(wanted, stored.manifest, hooks, early, route)
            opening.callback(channel.close)
            sessions = Sessions.of(wanted, stored.manifest, channel, hooks.pause)
            opening.callback(sessions.close)
            if begin:
                sessions.prepare()
            opening.callback(Turn(store, stored.manifest.digest, hooks.pause).use().release)
            if derives(stored, wanted.lm_head):
                hooks.prepare()
            ends = DeviceEnds.open(stored, lm_head=wanted.lm_head)
            opening.callback(ends.close)
            noise = None
            if wanted.noise is not None:
                noise = _noise(ends, stored, wanted.noise, hooks.calibrate)
            if noise is not None:
                opening.callback(noise.close)
                ends = replace(ends, defaults=without_penalty(ends.defaults))
            if ends.chat_template is not None:
                ends.chat_template.start()
            return cls(ends, sessions, noise, opening.pop_all())

    def sequence(self) -> tuple[Sequence, NoisedConversation | None]:
        """A session of its own, and with noise the conversation whose rows it sends."""
        backend = self._sessions.next()
        noised = None if self.noise is None else self.noise.conversation()
        if noised is None:
            lookup = self.ends.embedder.lookup
            embed: Embed = lambda ids: lookup(ids, backend.dtype)  # noqa: E731
            made = Sequence(backend, embed)
            if self._sessions.cache == "approximate":
                made.documents.cutter = self._cutter
            self._sequences[made] = _Kept(backend, embed)
        else:
            made = Sequence(backend, never_plain, bound(noised, lambda: backend.dtype))
            # The name of a noised row would be a release of it.
            self._sequences[made] = _Kept(backend, None)
        return made, noised

    @property
    def replica(self) -> str | None:
        """What the server of an open session calls itself; None where none does."""
        told = (kept.backend.replica for kept in self._sequences.values())
        return next((name for name in told if name is not None), None)

    @property
    def streamed(self) -> int:
        """Layers that the server of an open session reads from disk in each pass."""
        return max((kept.backend.streamed for kept in self._sequences.values()), default=0)

    def apart(self) -> Sequence:
        """On a session of which nothing is kept, and for which nothing is found; not with noise,
        and to be closed by whoever asked for it.
        """
        backend, lookup = self._sessions.apart(), self.ends.embedder.lookup
        return Sequence(backend, lambda ids: lookup(ids, backend.dtype))

    def forget(self, sequence: Sequence, ends: Iterable[list[int]] = ()) -> Forgotten:
        """End the session of ``sequence`` and have the server delete what it keeps of all that it
        ever held, and of the prefixes ``ends``.

        Raises NotForgotten and the errors of a step.
        """
        kept = self._sequences[sequence]
        held = sequence.leave()
        wanted = [*sequence.trail.ends, *ends]
        embed = None if self._sessions.cache == "off" else kept.embed
        documents = sequence.documents
        names = None if documents.cutter is None else documents.names
        beside = self._beside(sequence, wanted)
        done = forget(kept.backend, held, wanted, embed, beside, names)
        sequence.trail.clear()
        return done

    def forget_open(self) -> None:
        """End all sessions and have the server keep nothing of them, as far as it is reached."""
        for sequence, kept in self._sequences.items():
            sequence.leave()
            kept.backend.close(keep=False)
            sequence.trail.clear()

    def _beside(self, sequence: Sequence, ends: list[list[int]]) -> list[tuple[list[int], int]]:
        """End the other sessions that hold something of ``ends``, and would leave it behind when
        they end; what of it went with them.
        """
        gone = []
        for other, kept in self._sequences.items():
            end = max(ends, key=other.shared, default=[])
            shared = other.shared(end)
            if other is sequence or shared < SHORTEST:
                continue
            other.leave()
            if kept.backend.close(keep=False):
                gone.append((end, shared))
        return gone

    @property
    def salt(self) -> str | None:
        """The word that divides what the server keeps among its users; None where it needs none."""
        return self._sessions.salt

    def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        for sequence in self._sequences:
            sequence.close()
        self._sequences = WeakKeyDictionary()
        self._opened.close()


def _stored(wanted: Wanted, store: ModelStore, hooks: Hooks) -> StoredModel:
    source = WeightsSource(wanted.endpoint, wanted.token, wanted.patience.connect)
    try:
        manifest, data = when_loaded(lambda: _offered(wanted, source), hooks.notice, hooks.pause)
        stored = store.find(manifest.digest)
        hooks.manifest(manifest, stored is not None)
        if stored is not None:
            return stored
        return pull(
            source,
            store,
            manifest,
            data,
            packed=source.packed,
            progress=hooks.progress,
            pause=hooks.pause,
            patience=PATIENCE,
        )
    finally:
        source.close()


def _offered(wanted: Wanted, source: WeightsSource) -> tuple[Manifest, bytes]:
    """As :func:`fetch_manifest`. Raises ModelsNotListed where the server knows no names."""
    try:
        return fetch_manifest(source)
    except ServerRefused as error:
        endpoint = wanted.endpoint
        if endpoint.model is None or error.code not in _NO_SUCH_ADDRESS:
            raise
        if fetch_served(endpoint, wanted.token, wanted.patience.connect) is not None:
            raise
        raise ModelsNotListed(endpoint.root.url) from error


def _early(wanted: Wanted, route: Route) -> EarlySocket | None:
    if wanted.mode == "http":
        return None
    connect = connector(wanted.endpoint, wanted.token, frame_limit(1, 1), route)
    return EarlySocket(connect, wanted.patience.connect)


def new_channel(
    wanted: Wanted,
    manifest: Manifest,
    hooks: Hooks,
    early: EarlySocket | None = None,
    route: Route | None = None,
) -> Channel:
    """A channel to the wanted server, not yet connected; ``early`` goes by ``route`` as well."""
    # Answers carry one row; nothing longer is accepted unless it is asked for.
    longest = frame_limit(manifest.hidden_size, 1)
    connect = connector(wanted.endpoint, wanted.token, longest, route)
    if early is not None:
        connect = begun_early(connect, early, longest)
    return Channel(
        connect, wanted.mode, wanted.patience, route=route, pause=hooks.pause, notify=hooks.notice
    )


def _noise(
    ends: DeviceEnds, stored: StoredModel, settings: NoiseSettings, tell: Callable[[], None]
) -> NoiseMode:
    table = Table.of(stored.manifest, lambda ids: ends.embedder.lookup(ids, "f32"))
    penalty = ends.defaults.repetition_penalty
    return NoiseMode.open(settings, table, stored, penalty, tell)
