"""The wait for a server that reads a model into its memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TypeVar

from split_client.errors import ModelLoading
from split_client.transport.channel import Loading, Reconnecting

T = TypeVar("T")

# A model is read from a disk, and others may be before it.
LOADING_PATIENCE = 600.0
# The server says for how long it will take and holds each question until it is there: whoever asks
# again sooner begins sooner.
_LONGEST_PAUSE, _SHORTEST_PAUSE = 5.0, 1.0


def pause_for(refused: ModelLoading) -> float:
    """Seconds until it is asked again."""
    return min(max(refused.retry_after or 0.0, _SHORTEST_PAUSE), _LONGEST_PAUSE)


def notice_of(refused: ModelLoading, attempt: int) -> Loading:
    """The wait in the server's own words, and about how long it says that it takes."""
    return Loading(refused.told_words, attempt, refused.retry_after or pause_for(refused))


def when_loaded(
    ask: Callable[[], T],
    tell: Callable[[Reconnecting], None],
    pause: Callable[[float], None],
    patience: float = LOADING_PATIENCE,
) -> T:
    """The result of ``ask``, which is repeated while the server loads, for at most ``patience``
    seconds of pauses. Raises ModelLoading then, and what ``ask`` and ``pause`` raise.
    """
    waited = 0.0
    for attempt in count():
        try:
            return ask()
        except ModelLoading as refused:
            waited += pause_for(refused)
            if waited > patience:
                raise
            tell(notice_of(refused, attempt))
            pause(pause_for(refused))
    raise AssertionError("unreachable")
