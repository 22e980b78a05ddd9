"""Which hidden states of a step travel back: the last one, all, or the last so many."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from split_wire.errors import MalformedMessage

# Offered by a server that returns the last so many; without it a step asks for one or for all.
CAPABILITY = "rows"
# Rows with which a step still is interactive, where a server does not say.
INTERACTIVE_ROWS = 16

Rows: TypeAlias = Literal["last", "all"] | int


def returned(rows: Rows, sent: int) -> int:
    """How many states a step of ``sent`` rows brings back."""
    if rows == "last":
        return 1
    return sent if rows == "all" else rows


def counted(value: Any, sent: int) -> bool:
    """Whether ``value`` is a number of rows that a step of ``sent`` may ask for."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= sent


def rows_asked(value: Any, sent: int) -> Rows:
    """The field ``rows`` of a step of ``sent`` rows; missing is ``last``. Raises MalformedMessage.

    More than the step has are refused here, so that nobody sets memory aside for them.
    """
    if value is None or value == "last":
        return "last"
    if value == "all":
        return "all"
    if not counted(value, sent):
        raise MalformedMessage("'rows' must be 'last', 'all' or 1 to as many as the step has")
    asked: int = value
    return asked
