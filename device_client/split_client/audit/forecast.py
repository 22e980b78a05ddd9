"""A forecast of an audit's duration, from the first things that it measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from split_client.audit.effort import Effort

# Of a step alone, what one of several that are served together takes, with its scoring.
_TOGETHER = 0.5
# Of the texts that may be followed at a place, how many are, on average over noises.
_FOLLOWED = 0.4
# Of what a message takes to be looked up, what another sending of it takes.
_SENDING = 0.1
# Edits of a conversation.
VARIANTS = 16
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

    The model's prior takes a step for each text that is followed at each token: with noise in one
    conversation and, where it is loud, in the means of several. Without noise the rows alone leave
    one text.
    """
    modes, tokens = clear + noised, sum(messages)
    sendings = 0 if effort.alone else effort.sessions[-1] + VARIANTS
    steps = _FOLLOWED * effort.beam * noised * (1 if effort.alone else 2) * tokens
    matches = modes * effort.matched * effort.candidates
    looks = pace.message * len(messages) * (clear + noised * (1 + _SENDING * sendings))
    use = pace.reply * effort.replies * modes
    games = 2.0 * pace.release * effort.releases * noised
    return looks + pace.step * (_TOGETHER * steps + matches) + use + games


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
