"""What happens to replicas while devices make replies, and how long devices waited for it."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from scripts.bench.fleet.balancers import Balancer
from scripts.bench.fleet.faults.devices import Device, longest_gap
from scripts.bench.fleet.faults.parts import Parts
from scripts.bench.fleet.replicas import Replica

# A device that has no token for so long has given up, whatever it says.
_STUCK = 120.0
# What an event breaks, it breaks within this time.
_AT_ONCE = 0.3
_PAUSE = 0.02
# Seconds of replies before an event, at random.
_APART = (0.5, 1.5)
# A replica is frozen for longer than a balancer takes to see it.
_FROZEN = 8.0


@dataclass(slots=True)
class Waited:
    """``events``: how many there were; ``gaps``: times without a token, of each device that was in
    mid-reply or mid-prefill at a replica which was hit; ``problems``: what should not have been.
    """

    events: int = 0
    gaps: list[Parts] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Events:
    """Events one after the other; each ends with all replicas ready and all devices going on.

    ``wanted``: has devices begin replies.
    """

    def __init__(
        self,
        replicas: Sequence[Replica],
        balancer: Balancer,
        devices: Sequence[Device],
        wanted: threading.Event,
        rng: random.Random,
    ) -> None:
        self._replicas, self._balancer, self._devices = replicas, balancer, devices
        self._wanted, self._rng = wanted, rng

    def kill(self, waited: Waited) -> None:
        """SIGKILL for a random replica."""
        victim = self._rng.choice(self._replicas)
        self._struck(waited, victim.kill, [victim])
        self._again(victim)

    def freeze(self, waited: Waited) -> None:
        """SIGSTOP, and later SIGCONT: what it then still answers comes too late."""
        victim = self._rng.choice(self._replicas)
        thaw = threading.Timer(_FROZEN, victim.signal, [signal.SIGCONT])

        def freeze() -> None:
            victim.signal(signal.SIGSTOP)
            thaw.start()

        self._struck(waited, freeze, [victim])
        thaw.join()
        self._all_up()

    def roll(self, waited: Waited) -> None:
        """Replace one replica after the other, each in order."""
        for one in self._replicas:
            status: list[int] = []
            ending = threading.Thread(target=lambda: status.append(one.end()))  # noqa: B023
            self._struck(waited, ending.start, [one], lambda: not ending.is_alive())  # noqa: B023
            ending.join()
            if status != [0]:
                waited.problems.append(f"replica {one.name} ended with {status}")
            self._again(one)

    def all_gone(self, waited: Waited, seconds: float) -> None:
        """SIGKILL for all of them, and nobody there for ``seconds``."""

        def come_back() -> None:
            for one in self._replicas:
                one.start()

        back = threading.Timer(seconds, come_back)

        def strike() -> None:
            for one in self._replicas:
                one.kill()
            back.start()

        self._struck(waited, strike)
        back.join()
        self._all_up()
        self._on_sockets_again(waited)

    def restart(self, waited: Waited) -> None:
        """The balancer itself is killed and started again."""

        def strike() -> None:
            self._balancer.kill()
            self._balancer.start()

        self._struck(waited, strike)
        self._all_up()

    def _again(self, replica: Replica) -> None:
        replica.start()
        replica.wait()
        self._all_up()

    def _struck(
        self,
        waited: Waited,
        strike: Callable[[], object],
        hit: Sequence[Replica] | None = None,
        until: Callable[[], bool] = lambda: True,
    ) -> None:
        """Note what ``strike`` costs: gaps that overlap the time from it until ``until()``.

        ``hit``: whose devices wait; None: all do.
        """
        self._wanted.set()
        time.sleep(self._rng.uniform(*_APART))
        names = None if hit is None else {one.name for one in hit}
        waiting = [one for one in self._devices if names is None or one.replica in names]
        began = time.monotonic()
        strike()
        while not until():
            time.sleep(_PAUSE)
        ended = time.monotonic() + _AT_ONCE
        for device in self._devices:
            if not _goes_on(device, ended):
                waited.problems.append(f"device {device.number} is stuck: {device.failure}")
        # While replicas come back nothing is seen, and they come back sooner.
        self._wanted.clear()
        found = [longest_gap(device, began, ended) for device in waiting]
        waited.gaps += [gap for gap in found if gap is not None]
        waited.events += 1

    def _all_up(self) -> None:
        """Until each replica is ready, and the balancer says so where it has checks of its own."""
        deadline = time.monotonic() + _STUCK
        while not self._seen_up():
            if time.monotonic() > deadline:
                raise RuntimeError(f"replicas are not up again: {self._balancer.states()}")
            time.sleep(_PAUSE)

    def _seen_up(self) -> bool:
        if any(one.ready() != httpx.codes.OK for one in self._replicas):
            return False
        states = self._balancer.states()
        return all(state.startswith("UP") for state in states.values())

    def _on_sockets_again(self, waited: Waited) -> None:
        """Devices that may use WebSockets are back on them within a minute."""
        deadline = time.monotonic() + 60.0
        wanted = [device for device in self._devices if device.carrier == "auto"]
        self._wanted.set()
        while any(device.transport != "websocket" for device in wanted):
            if time.monotonic() > deadline:
                left = [one.number for one in wanted if one.transport != "websocket"]
                waited.problems.append(f"devices {left} still without a WebSocket after a minute")
                return
            time.sleep(_PAUSE)


def _goes_on(device: Device, since: float) -> bool:
    """Whether the device gets a token later than ``since``."""
    deadline = time.monotonic() + _STUCK
    while device.is_alive() and time.monotonic() < deadline:
        if any(said.times and said.times[-1] > since for said in device.said[-2:]):
            return True
        time.sleep(_PAUSE)
    return False
