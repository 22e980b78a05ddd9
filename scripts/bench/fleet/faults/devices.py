"""Devices that make one reply after another through a balancer, whatever happens behind it."""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from scripts.bench.fleet.faults.parts import Parts, Watch, longest
from scripts.bench.fleet.replicas import TOKEN
from split_client.api import NoiseSettings, SamplingParams, SplitClient
from split_client.errors import ClientError
from split_client.generation.loop import TokenEvent
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Spent
from split_client.transport.channel import Patience

Carrier = Literal["auto", "http"]
MAX_TOKENS = 48
_GREEDY = SamplingParams(temperature=0.0, seed=0)
# Longer than replicas are ever all gone here.
_PATIENCE = Patience(total=300.0)
_IDENTITY = "fleet"
# Small against a row: replies stay sentences, and every value is another one than without.
_SIGMA = 1e-3


@dataclass(slots=True)
class Said:
    """A reply to prompt ``prompt``: its ids, and when each was there by the monotonic clock;
    ``begun``: when it was asked for.
    """

    prompt: int
    ids: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    begun: float | None = None

    @property
    def moments(self) -> list[float]:
        """When it was asked for, and when each token was there."""
        return ([] if self.begun is None else [self.begun]) + self.times


class Device(threading.Thread):
    """Number ``number`` of them. ``said``: its replies so far; ``failure``: what ended it early;
    ``replica``: what the server of its newest token calls itself; ``watch``: what it did meanwhile.

    ``replies``: as many, None: until it is stopped. ``wanted``: replies are begun while it is set.
    """

    def __init__(
        self,
        number: int,
        url: str,
        folder: Path,
        prompts: Sequence[str],
        *,
        carrier: Carrier,
        noised: bool,
        wanted: threading.Event,
        replies: int | None = None,
        run: str = "faults",
    ) -> None:
        super().__init__(name=f"device {number}", daemon=True)
        self.number, self.carrier, self.noised = number, carrier, noised
        self.said: list[Said] = []
        self.failure: str | None = None
        self.replica: str | None = None
        self.watch = Watch()
        self._prompts, self._replies, self._wanted = prompts, replies, wanted
        self._ledger = folder / f"ledger-{run}-{number}.json"
        self._ended = threading.Event()
        self._client = SplitClient(
            url,
            token=TOKEN,
            cache=folder / "cache",
            transport=carrier,
            patience=_PATIENCE,
            noise=self._noise() if noised else None,
            drafts="off",
        )
        self.watch.pausing(self._client)

    @property
    def transport(self) -> str | None:
        """What carries its frames at present."""
        return self._client.stats.transport

    def stop(self) -> None:
        """End after the reply that is being made."""
        self._ended.set()

    def run(self) -> None:
        """Make replies; their prompts are taken in turn, another one first for each device."""
        try:
            with self._client:
                self.watch.connecting(self._client._connected().channel)
                # All of them are of one user here, and would go one way.
                self._client.route_anew()
                for count in itertools.count():
                    self._wanted.wait()
                    if self._ended.is_set() or count == self._replies:
                        break
                    self._reply((self.number + count) % len(self._prompts), count)
        except ClientError as error:
            self.failure = f"{type(error).__name__}: {error}"

    def spent(self) -> Spent:
        """What its noise has cost, by the ledger."""
        return Ledger(self._ledger).spent(_IDENTITY)

    def _reply(self, prompt: int, count: int) -> None:
        said = Said(prompt, begun=time.monotonic())
        self.said.append(said)
        # What was sent before with the same noise costs nothing, so it is another text each time.
        text = f"{count}. {self._prompts[prompt]}" if self.noised else self._prompts[prompt]
        reply = self._client.generate(text, _GREEDY, max_tokens=MAX_TOKENS)
        for event in reply.events():
            if isinstance(event, TokenEvent):
                said.times.append(time.monotonic())
                self.replica = self._client.replica
        said.ids = list(reply.token_ids)

    def _noise(self) -> NoiseSettings:
        key = hashlib.sha256(f"device {self.number}".encode()).digest()
        return NoiseSettings(sigma=_SIGMA, key=key, ledger=self._ledger, identity=_IDENTITY)


def longest_gap(device: Device, since: float, until: float) -> Parts | None:
    """The longest time without a token within a reply, the wait for its first one too, that
    overlaps the time from ``since`` to ``until``, in its parts; None where no reply was being made.
    """
    found = longest([said.moments for said in [*device.said]], since, until)
    return None if found is None else device.watch.parts(*found)
