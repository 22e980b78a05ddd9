"""The time that the server takes to tokenize a text while it generates for others."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

_TOKENIZE_PATH = "/api/v1/tokenize"
_TEXT = "How long does it take to turn these words into tokens while others wait for theirs? " * 8


@dataclass(slots=True)
class Probed:
    """``seconds`` of every answer in order; ``failures`` as text."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def percentile_ms(self, share: int) -> float:
        """The smallest time that at least ``share`` percent do not exceed (nearest rank)."""
        ordered = sorted(self.seconds)
        return 1e3 * ordered[max(0, -(-len(ordered) * share // 100) - 1)]


class TokenizeProbe:
    """Asks every ``period`` seconds until it is stopped; one that is late is asked at once."""

    def __init__(self, url: str, period: float) -> None:
        self._url, self._period = url + _TOKENIZE_PATH, period
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._result = self._pool.submit(self._ask_on)

    def stop(self) -> Probed:
        """The figures so far."""
        self._stop.set()
        self._pool.shutdown()
        return self._result.result()

    def _ask_on(self) -> Probed:
        probed, due = Probed(), time.monotonic()
        with httpx.Client(trust_env=False, timeout=60) as client:
            while not self._stop.wait(max(0.0, due - time.monotonic())):
                due = max(due + self._period, time.monotonic())
                self._ask(client, probed)
        return probed

    def _ask(self, client: httpx.Client, probed: Probed) -> None:
        began = time.monotonic()
        try:
            answer = client.post(self._url, json={"text": _TEXT}).raise_for_status().json()
        except httpx.HTTPError as error:
            probed.failures.append(repr(error))
            return
        probed.seconds.append(time.monotonic() - began)
        if answer["token_count"] != len(answer["token_ids"]):
            probed.failures.append("a count of tokens that is not theirs")
