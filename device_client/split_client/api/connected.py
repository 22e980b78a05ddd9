"""What every client has: its options, the connection, and what is served there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

from split_client.adapters.choice import AdapterInfo, Adapters
from split_client.adapters.chooser import AdapterChooser
from split_client.adapters.clear import ClearAdapters
from split_client.adapters.masks import MaskStats
from split_client.api.stats import ClientStats
from split_client.chat.drafting import Drafting
from split_client.chat.verifying import VERIFY_SHARE, Record, Verify
from split_client.errors import Cancelled
from split_client.generation.head.head import HeadKind
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sequence import Sequence as TokenSequence
from split_client.generation.speculation.wanted import (
    DraftMemory,
    Drafts,
    draft_memory_of,
    drafts_of,
)
from split_client.model.connected import ConnectedModel, Hooks
from split_client.model.ends import DeviceEnds
from split_client.model.wanted import Wanted
from split_client.noise.conversation import NoisedConversation
from split_client.noise.rules import require_blind_adapter, require_no_drafts
from split_client.noise.settings import NoiseSettings
from split_client.redaction.settings import RedactionSettings
from split_client.transport.channel import Mode, Patience, Reconnecting
from split_client.transport.endpoint import DEFAULT_URL, Endpoint
from split_client.transport.served.listing import ServedModel, fetch_served
from split_client.weights.manifest import Manifest
from split_client.weights.pull import Progress
from split_client.weights.store import ModelStore
from split_masks.limits import MOST_MASKS
from split_wire.splice import MOST_BLEND
from split_wire.tiers import Cache


class ConnectedClient:
    """The part of :class:`SplitClient` that finds, opens and closes its model."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        model: str | None = None,
        token: str | None = None,
        cache: Path | None = None,
        transport: Mode = "auto",
        lm_head: HeadKind = "exact",
        patience: Patience | None = None,
        adapter: str | None = None,
        adapter_host: str | None = None,
        adapter_token: str | None = None,
        masks: int = 0,
        noise: NoiseSettings | None = None,
        server_cache: Cache = "exact",
        cache_group: str | None = None,
        share_until: int = 0,
        blend: float = 0.0,
        verify: Verify = "audit",
        verify_share: float = VERIFY_SHARE,
        drafts: Drafts = "auto",
        draft_memory: DraftMemory = "chat",
        redact: RedactionSettings | bool = False,
        on_manifest: Callable[[Manifest, bool], None] = lambda _manifest, _stored: None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_prepare: Callable[[], None] = lambda: None,
        on_calibrate: Callable[[], None] = lambda: None,
        on_notice: Callable[[Reconnecting], None] = lambda _: None,
    ) -> None:
        """``model``: the name of one of the server's models (:meth:`served_models`); None: its
        first, or the one that ``url`` ends with, as ``/m/NAME``. ``cache``: folder for weights.
        ``lm_head``: "exact" (an int8 screen), "compact" (a 4-bit shortlist, for small devices; its
        top is not proven) or "full" (every row each time).
        ``on_manifest`` sees what the server offers and whether it is here already, before anything
        is pulled, and may raise to refuse; ``on_progress`` follows a pull, ``on_prepare`` comes
        before the LM head's file is derived, which happens once per model and takes seconds for a
        large one, ``on_calibrate`` before the numbers of noise are worked out, as seldom and as
        long; ``on_notice`` tells of lost connections.

        ``adapter``: a name, "auto" (by the words of the newest message, chosen here) or None. The
        server applies it in the clear and sees its name, unless ``adapter_host`` is the URL of a
        host that evaluates it on ciphertexts, with the token ``adapter_token``. ``masks``: how many
        one-time masks to have ready for each reply, 0 to 512; between replies, each is a query of
        the host's budget. Without a host, or beyond 512: ValueError.

        ``server_cache``: "exact" lets the server keep what it computed of a chat, for later
        sessions of the same token, or without one of the same user; "int8" also as whole numbers of
        8 bits, which differ a little (``reply.stats.prompt_tiers``); "approximate" also has it keep
        what lies behind an edit of a prompt (``reply.stats.prompt_moved``), which differs more;
        "off" has it keep nothing.

        ``cache_group``, ``share_until``: a group that the server's operator named, whose members
        may find the first positions of every chat; not with noise.

        ``blend``: the share of what an edit keeps behind it that is computed anew, where it
        differs most; all of it then travels. At most 0.5, else ValueError.

        ``verify``: "full" has every reply of a conversation that stands on moved rows computed
        plainly as well (``chat.verified``), "audit" a ``verify_share`` of them. One that is too far
        off ends its session; after three nothing is moved any more (``client.verified``).

        ``noise``: rows are sent with noise, counted and bounded as the settings say; None: as they
        are.

        ``drafts``: how many tokens a step guesses, so that it brings several where they are right:
        "auto" (as many as pay), "off", or a number in 1..31. No token of a reply depends on it.
        ``draft_memory``: guesses are made of what the "chat" has sent or received, or of earlier
        replies of all chats of this client ("server"). With noise there are none.

        ``redact``: the model is given surrogates for names, numbers and addresses, and replies are
        undone (docs/redaction.md): True, or settings.
        """
        self._wanted = Wanted(
            Endpoint.parse(url).of_model(model),
            token,
            transport,
            lm_head,
            patience or Patience(),
            noise,
            server_cache,
            cache_group,
            share_until,
        )
        self._hooks = Hooks(
            on_manifest, on_progress, on_prepare, on_calibrate, on_notice, self._pause
        )
        self._store = ModelStore(cache)
        if not 0 <= blend <= MOST_BLEND:
            raise ValueError(f"blend is {blend}, not from 0 to {MOST_BLEND}")
        self._blend = float(blend)
        self._verify: Verify = verify
        self._verify_share = verify_share
        self.verified = Record()
        self._adapter = adapter
        self._adapter_host, self._adapter_token = adapter_host, adapter_token
        self._wanted_masks = _wanted_masks(masks, adapter_host)
        self._masks: Callable[[], MaskStats] | None = None
        self._chooser = AdapterChooser(self._load_adapters)
        self._drafting = _drafting(drafts, draft_memory, noise)
        self._redact = redaction_settings(redact)
        self._cancel = threading.Event()
        self._model: ConnectedModel | None = None
        self._shared: TokenSequence | None = None
        self._last_noised: NoisedConversation | None = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self, *, begin: bool = False) -> None:
        """Find out which model is served, pull its ends if they are not here, open them.

        ``begin``: a session for the first chat or reply is asked for meanwhile; it counts against
        the server's limits, so only where one follows at once.
        Raises the errors of ``split_client.errors``, ``split_client.generation.errors`` and, for an
        adapter that is not there, ``split_client.adapters.errors``, and with noise those of
        ``split_client.noise.errors``.
        """
        if self._model is not None:
            return
        self.resume()
        if self._wanted.noise is not None:
            require_blind_adapter(self._adapter)
        self._model = ConnectedModel.open(self._wanted, self._store, self._hooks, begin=begin)
        try:
            # A name that nobody knows is told now, not after the first message.
            self._chooser.prepare(self._adapter)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the sessions and the connection; safe to call twice."""
        model, self._model = self._model, None
        # Another model may answer there the next time, whose tokens have other ids.
        self._drafting = self._drafting.anew()
        self._chooser.close()
        if model is not None:
            # The model ends the sessions of sequences that somebody still holds.
            model.close()
        self._shared, self._last_noised = None, None

    def cancel(self) -> None:
        """End the reply that is being made after its next token, and any wait for the server."""
        self._cancel.set()

    def resume(self) -> None:
        """Take back a :meth:`cancel` that nothing has heeded yet."""
        self._cancel.clear()

    @property
    def drafts(self) -> Drafts:
        """How many tokens a step of replies guesses."""
        return self._drafting.drafts

    @property
    def most_drafts(self) -> int:
        """As many as a step of this server may guess."""
        return self._session().interactive_rows - 1

    @property
    def server_cache(self) -> Cache:
        """Whether the server may keep what it computed of a chat for later sessions."""
        return self._wanted.server_cache

    @property
    def ends(self) -> DeviceEnds:
        """The opened ends; connects first."""
        return self._connected().ends

    @property
    def endpoint(self) -> Endpoint:
        """The server's address."""
        return self._wanted.endpoint

    @property
    def model(self) -> str | None:
        """The name by which the model was asked for; None: whichever is the server's first."""
        return self._wanted.endpoint.model

    def served_models(self) -> tuple[ServedModel, ...] | None:
        """The models of the server, loaded or not; None: it lists none, so it has one.

        Raises AnswerInvalid and the errors of a connection.
        """
        wanted = self._wanted
        return fetch_served(wanted.endpoint, wanted.token, wanted.patience.connect)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the served model."""
        return self.ends.manifest

    @property
    def adapters(self) -> tuple[AdapterInfo, ...]:
        """Those that can be named: the adapter host's, or the server's where there is no host.

        Asks for them the first time. Raises AdapterListInvalid and the errors of a connection.
        """
        return self._chooser.available

    @property
    def default_params(self) -> SamplingParams:
        """The sampling that the model's makers recommend."""
        return self.ends.defaults

    @property
    def stats(self) -> ClientStats:
        """Traffic so far."""
        return ClientStats.of(self._connected().channel)

    @property
    def replica(self) -> str | None:
        """What the server calls itself that holds the open sessions, where several of them stand
        behind one address; None where it has no name, or no session is open.
        """
        return self._connected().replica

    @property
    def streamed(self) -> int:
        """Layers of the model that the server of the open sessions reads from disk in each pass;
        0 where all are in its memory, or no session is open.
        """
        return self._connected().streamed

    @property
    def masks(self) -> MaskStats | None:
        """What one-time masks did so far; None before an adapter of a host was wanted."""
        return None if self._masks is None else self._masks()

    def sequence(self) -> TokenSequence:
        """A session for replies that are made beside others; with noise the one they all share."""
        if self._wanted.noise is not None:
            return self._session()
        return self._connected().sequence()[0]

    def _connected(self) -> ConnectedModel:
        self.connect()
        if self._model is None:
            raise RuntimeError("the client is not connected")
        return self._model

    def _load_adapters(self) -> Adapters:
        if self._adapter_host is None:
            wanted = self._wanted
            return ClearAdapters.at(wanted.endpoint, wanted.token, wanted.patience.connect)
        # Keys and ciphertexts need libraries that a client without a host does not load.
        from split_client.crypto.hosted import HostedAdapters

        hosted = HostedAdapters(
            self._adapter_host,
            self._adapter_token,
            self.manifest,
            patience=self._wanted.patience,
            masks=self._wanted_masks,
            pause=self._pause,
        )
        self._masks = lambda: hosted.masks
        return hosted

    def _session(self) -> TokenSequence:
        if self._shared is None:
            self._shared, self._last_noised = self._connected().sequence()
        return self._shared

    def _pause(self, seconds: float) -> None:
        if self._cancel.wait(seconds):
            raise Cancelled


def _wanted_masks(masks: int, adapter_host: str | None) -> int:
    if not 0 <= masks <= MOST_MASKS:
        raise ValueError(f"masks is {masks}, not from 0 to {MOST_MASKS}")
    if masks and adapter_host is None:
        raise ValueError("masks are of an adapter host: give adapter_host too, or leave them out")
    return masks


def redaction_settings(wanted: RedactionSettings | bool) -> RedactionSettings | None:
    """True: the usual settings; False: none."""
    if isinstance(wanted, RedactionSettings):
        return wanted
    return RedactionSettings() if wanted else None


def _drafting(drafts: Drafts, memory: DraftMemory, noise: NoiseSettings | None) -> Drafting:
    """Guesses as they are wanted; none with noise, where a number of them is refused."""
    wanted = drafts_of(drafts)
    if noise is not None:
        if isinstance(wanted, int):
            require_no_drafts(f"drafts = {wanted}")
        wanted = "off"
    return Drafting(wanted, draft_memory_of(memory))
