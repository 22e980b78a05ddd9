"""A device client that chats over a bad network, changes its mind, leaves and comes back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from scripts.bench.soak.dialogues import DIALOGUES, Dialogue
from scripts.bench.soak.hop import ChaosHop
from scripts.bench.soak.tally import Asked, Heard, SoakTally, Wait
from scripts.bench.solo import MAX_TOKENS, sampling
from split_client.api import ChatSession, SplitClient
from split_client.chat.reply import Reply
from split_client.errors import ClientError
from split_client.generation.loop import TokenEvent
from split_client.transport.channel import Mode, Patience
from split_wire.errors import SplitError

SEEDS = (None, 7, 8)
# A server that starts again must be back within ``total``.
PATIENCE = Patience(connect=5.0, exchange=25.0, total=150.0)
_GIVE_UP = 300.0
_MODES: tuple[Mode, ...] = ("auto", "auto", "websocket", "http")


class GaveUp(Exception):
    """A reply did not come about, however often it was asked for."""


class SoakClient:
    """Lives on a thread of its own; ``cut`` breaks all connections of ``hop``; every draw comes
    from ``rng``.
    """

    def __init__(
        self, hop: ChaosHop, cut: Callable[[], None], cache: Path, rng: random.Random
    ) -> None:
        self._hop, self._cut, self._cache, self._rng = hop, cut, cache, rng
        self._client: SplitClient | None = None
        self.tally = SoakTally()

    def live(self, until: float, pause: float) -> None:
        """One visit after another until the monotonic clock says ``until``."""
        while time.monotonic() < until:
            try:
                self._visit(until, pause)
            except GaveUp:
                self.tally.done["gave up"] += 1
            except Exception as error:  # noqa: BLE001 - told by the main process
                self.tally.unnamed.append(f"{type(error).__name__}: {error}")
                self._leave_without_a_word()

    def leave(self) -> None:
        """End everything in order."""
        self._hop.weather.cut_after, self._hop.weather.silent = None, False
        if self._client is not None:
            self._client.close()
        self._client = None

    def _visit(self, until: float, pause: float) -> None:
        dialogue, seed = self._rng.choice(DIALOGUES), self._rng.choice(SEEDS)
        chat = self._connected().conversation(dialogue.system)
        chat.params, chat.max_tokens = sampling(seed), MAX_TOKENS
        self.tally.done["chat"] += 1
        for turn in range(self._rng.randint(1, len(dialogue.questions))):
            self._turn(chat, dialogue, turn, seed)
            time.sleep(self._rng.expovariate(1 / pause))
            if time.monotonic() >= until:
                break
        if self._rng.random() < 0.2:
            self._leave_without_a_word()
        else:
            chat.close()

    def _connected(self) -> SplitClient:
        """The client there is, or now and then another one that connects in another way."""
        if self._client is not None and self._rng.random() < 0.2:
            self._client.close()
            self._client = None
        deadline = time.monotonic() + _GIVE_UP
        while self._client is None:
            weather = self._hop.weather
            weather.no_upgrades = self._rng.random() < 0.3
            mode = self._rng.choice(_MODES[:2] if weather.no_upgrades else _MODES)
            client = SplitClient(
                self._hop.url, cache=self._cache, transport=mode, patience=PATIENCE
            )
            try:
                client.connect()
            except (ClientError, SplitError) as error:
                self._failed(f"{error.code} on connecting", deadline)
                continue
            self._client = client
            self.tally.done[f"client over {mode}{' without upgrades' * weather.no_upgrades}"] += 1
        return self._client

    def _turn(self, chat: ChatSession, dialogue: Dialogue, turn: int, seed: int | None) -> None:
        """Ask, and perhaps stop early, ask again, edit or take back."""
        first, edited = dialogue.questions[turn]
        chat.conversation.say(first)
        if self._rng.random() < 0.15:
            self.tally.done["stopped early"] += 1
            self._reply(chat, seed, stop=self._rng.randint(1, 8))
        self._reply(chat, seed)
        whim = self._rng.random()
        if whim < 0.15:
            self.tally.done["retry"] += 1
            self._reply(chat, seed)
        elif whim < 0.3:
            self.tally.done["edit"] += 1
            chat.conversation.undo()
            chat.conversation.say(edited)
            self._reply(chat, seed)
        elif whim < 0.4:
            self.tally.done["undo"] += 1
            chat.conversation.undo()

    def _reply(self, chat: ChatSession, seed: int | None, stop: int | None = None) -> None:
        """Have a reply, asking again when it fails. Raises GaveUp."""
        deadline = time.monotonic() + _GIVE_UP
        while True:
            chat.conversation.drop_reply()
            asked: Asked = (tuple(chat.conversation.prompt().ids), seed)
            reply = chat.answer()
            try:
                whole = self._read(reply, stop)
            except (ClientError, SplitError) as error:
                self._keep(asked, reply, whole=False)
                self._failed(error.code, deadline)
                continue
            self._keep(asked, reply, whole=whole)
            if whole or stop is not None:
                return

    def _keep(self, asked: Asked, reply: Reply, *, whole: bool) -> None:
        self.tally.hear(asked, Heard(tuple(reply.token_ids), reply.text, whole))

    def _read(self, reply: Reply, stop: int | None) -> bool:
        """Read a reply in whatever weather; whether it was read to its own end."""
        fault, began, left = self._weather(), time.monotonic(), self._leaves_after()
        for event in reply.events():
            now = time.monotonic()
            self.tally.waited(Wait(began, now, fault))
            began = now
            if isinstance(event, TokenEvent) and len(reply.token_ids) == stop:
                self._connected_now().cancel()
            elif len(reply.token_ids) == left:
                # The text on the screen stays; the chat goes on over a new connection.
                self.tally.done["left in the middle"] += 1
                self._cut()
                return False
        return reply.finish_reason != "cancelled"

    def _connected_now(self) -> SplitClient:
        assert self._client is not None
        return self._client

    def _leaves_after(self) -> int | None:
        return self._rng.randint(1, 12) if self._rng.random() < 0.05 else None

    def _weather(self) -> str:
        """Something for the next reply to get through; its name."""
        weather, draw = self._hop.weather, self._rng.random()
        weather.slow = 0.30 <= draw < 0.36
        if draw < 0.25:
            # An answer to a decode step has about 900 bytes: somewhere in the first dozen.
            weather.cut_after = self._rng.randint(1, 12_000)
            return "cut"
        if draw < 0.27:
            weather.silent = True
            return "silence"
        return "slow" if weather.slow else ""

    def _failed(self, cause: str, deadline: float) -> None:
        """Count a failure and wait before it is tried again. Raises GaveUp."""
        self.tally.failures[cause] += 1
        if time.monotonic() > deadline:
            self.tally.unnamed.append(f"given up at last: {cause}")
            raise GaveUp
        time.sleep(self._rng.uniform(0.5, 1.5))

    def _leave_without_a_word(self) -> None:
        """Lose the connection and forget the client; the server has to find out by itself."""
        self.tally.done["left without a word"] += 1
        self._hop.weather.gone = True
        self._cut()
        if self._client is not None:
            self._client.close()
        self._client, self._hop.weather.gone = None, False
