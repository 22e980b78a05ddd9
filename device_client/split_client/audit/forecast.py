"""A forecast of an audit's duration, from the first things that it measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from split_client.audit.effort import Effort

# What scoring adds to a step of a beam.
_SCORING = 1.2
_MINUTE, _HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: of the first message, looked up; of a step; of one reply's use; of a release."""

    message: float
    step: float
    reply: float
    release: float


def expected(pace: Pace, effort: Effort, messages: Sequence[int], clear: int, noised: int) -> float:
    """Seconds for the whole audit of ``messages`` (tokens of each) in so many modes of either kind.

    A beam takes a step for each hypothesis at each token: one for each number of conversations
    that is averaged, and one without rows for each length. Without noise it has one hypothesis,
    with noise something between that and its width.
    """
    modes, tokens = clear + noised, sum(messages)
    steps = 0.5 * (1 + effort.beam) * noised * len(effort.sessions) * tokens
    steps += effort.beam * sum(set(messages)) + clear * tokens
    steps += modes * effort.matched * effort.candidates
    looks = pace.message * len(messages) * (clear + noised * (1 + effort.sessions[-1] / 4))
    use = pace.reply * effort.replies * modes
    games = 2.0 * pace.release * effort.releases * noised
    return looks + _SCORING * pace.step * steps + use + games


def in_words(seconds: float) -> str:
    """About how long that is."""
    if seconds < _MINUTE:
        return "less than a minute"
    if seconds < 1.5 * _HOUR:
        count, unit = round(seconds / _MINUTE), "minute"
    else:
        count, unit = round(seconds / _HOUR), "hour"
    return f"about {count} {unit}{'' if count == 1 else 's'}"


class Foreteller:
    """Says once, after the first message, how long all of it will take.

    ``minutes``: the time that was given, None: as long as it takes.
    """

    def __init__(self, tell: Callable[[str], None], minutes: float | None) -> None:
        self._tell, self._minutes, self._told = tell, minutes, False

    @property
    def told(self) -> bool:
        """Whether it has spoken."""
        return self._told

    def say(self, seconds: float, first: float) -> None:
        """``seconds`` for everything by the forecast, of which the first message took ``first``."""
        self._told = True
        text = f"the first message took {first:.1f} s; all of it takes {in_words(seconds)}"
        if self._minutes is not None and seconds > _MINUTE * self._minutes:
            text += f", and {self._minutes:g} were given: every mode gets its share, and of what "
            text += "does not fit into it less is measured"
        self._tell(text)
