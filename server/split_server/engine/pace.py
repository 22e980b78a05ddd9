"""Forecasts of when the sessions that are decoding come back with their next token.

A device needs a moment to pick a token. A pass that starts just before the token arrives makes it
wait for the whole pass, and with several devices each would wait for all others; so the engine
holds a pass back for devices that are known to answer fast (anticipatory scheduling: Iyer and
Druschel, SOSP 2001).
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from split_server.kv.session_cache import SessionCache

# Smoothed mean plus four mean deviations bounds a round trip well (RFC 6298, section 2).
_MEAN_GAIN, _DEVIATION_GAIN, _DEVIATIONS = 1 / 8, 1 / 4, 4
_GRANULARITY = 0.0005


class _Pace:
    __slots__ = ("deviation", "mean", "served_at")

    def __init__(self) -> None:
        self.served_at = 0.0
        self.mean: float | None = None
        self.deviation = 0.0

    def arrived(self, now: float) -> None:
        took = now - self.served_at
        if self.mean is None:
            self.mean, self.deviation = took, took / 2
            return
        self.deviation += _DEVIATION_GAIN * (abs(took - self.mean) - self.deviation)
        self.mean += _MEAN_GAIN * (took - self.mean)

    @property
    def usual(self) -> float | None:
        """Seconds within which the next token comes more often than not."""
        return None if self.mean is None else self.mean + self.deviation

    @property
    def longest(self) -> float:
        """Seconds after which the next token has most likely come."""
        return (self.mean or 0.0) + max(_GRANULARITY, _DEVIATIONS * self.deviation)


class Paces:
    """Times in seconds of the engine's clock."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[SessionCache, _Pace] = WeakKeyDictionary()
        self._awaited: dict[int, _Pace] = {}
        # The session that was served last, and when; and when another one than that was.
        self._latest: tuple[int, float] | None = None
        self._other: float | None = None
        self._last_decode: float | None = None
        self._last_mean = 0.0

    @property
    def mean(self) -> float:
        """Seconds that the device which answered last usually needs."""
        return self._last_mean

    def served(self, cache: SessionCache, now: float) -> None:
        """A decode step of ``cache`` was answered."""
        pace = self._known.get(cache)
        if pace is None:
            pace = self._known[cache] = _Pace()
        elif pace.mean is not None:
            self._last_decode, self._last_mean = now, pace.mean
        if self._latest is not None and self._latest[0] != id(cache):
            self._other = self._latest[1]
        self._latest = (id(cache), now)
        pace.served_at = now
        self._awaited[id(pace)] = pace

    def arrived(self, cache: SessionCache, now: float) -> None:
        """The next decode step of ``cache`` is here."""
        pace = self._known.get(cache)
        if pace is not None and self._awaited.pop(id(pace), None) is not None:
            pace.arrived(now)

    def decoding(self, now: float, within: float = 1.0) -> bool:
        """Whether a session that sends one token after the other was served lately."""
        return self._last_decode is not None and now - self._last_decode <= within

    def beside(self, cache: SessionCache | None, now: float, within: float) -> bool:
        """Whether another session than that of ``cache`` was served lately. Any thread may ask."""
        latest, other = self._latest, self._other
        if latest is not None and latest[0] != id(cache):
            other = latest[1]
        return other is not None and now - other <= within

    def hold_until(self, now: float, patience: float) -> float | None:
        """Until when a pass is worth holding back, None when nobody is expected.

        ``patience``: seconds that a device to wait for may usually need, and that it is given.
        """
        until: float | None = None
        for key, pace in list(self._awaited.items()):
            usual = pace.usual
            if usual is None and now - pace.served_at <= patience:
                continue
            end = pace.served_at + min(pace.longest, patience)
            if usual is None or usual > patience or end <= now:
                del self._awaited[key]
                continue
            until = max(until or 0.0, end)
        return until
