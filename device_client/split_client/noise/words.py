"""Words of noised mode about itself: every epsilon with its unit, delta and sensitivity."""

from __future__ import annotations

import math

from split_client.noise.calibration import Calibration
from split_client.noise.spent import Budget, Kind, Spent
from split_privacy.mechanism import RowMechanism

# A budget's room is told up to here.
_MOST_ROOM = 1_000_000
# How many rows there are depends on the text and on replies; a running total takes them as given.
_CONDITION = "for texts of these lengths"
CALIBRATING_LINE = (
    "noise: the norms of the model's table and the largest distance of two rows are worked out, "
    "once for this model; this takes some seconds"
)
OTHER_NOISE_LINE = (
    "a chat that comes from a file or from another model has no key of its noise: what was sent of "
    "it before goes with other noise now, which the server can average, and counts anew"
)
ELSEWHERE_LINE = (
    "another device has written this ledger too: what a copy of it counts there is not in this one"
)
SEEN_LINE = (
    "the server sees the noised rows; split-client audit measures what its attacks recover of "
    "them, and better attacks recover more"
)


def mechanism_lines(mechanism: RowMechanism, calibration: Calibration, delta: float) -> list[str]:
    """The noise, and what it gives for one token."""
    found = (
        "the largest distance between two clipped rows of the table"
        if calibration.exact
        else "a bound on the distance of two clipped rows, whose search would take too long"
    )
    return [
        f"noised mode: rows clipped to norm C {calibration.clip:.4g}, Gaussian noise of sigma "
        f"{mechanism.sigma:.4g} in each of {mechanism.width} values "
        f"(sigma/C {mechanism.sigma / calibration.clip:.3g})",
        f"one token replaced, each time that it is sent: {_epsilon(mechanism.epsilon(delta))}, "
        f"delta {delta:g}; sensitivity {calibration.sensitivity:.4g} ({found})",
    ]


def conversation_line(spent: Spent, delta: float) -> str:
    """Both units of a conversation so far."""
    return f"this conversation so far, {_CONDITION}, delta {delta:g}: {_both(spent, delta)}"


def ledger_line(spent: Spent, delta: float, identity: str) -> str:
    """Both units of everything that the ledger knows of."""
    if not spent.rows:
        return f"nothing was sent with noise before (ledger of {identity!r})"
    counted = f"all that the ledger of {identity!r} counts, {_CONDITION}, delta {delta:g}"
    return f"{counted}: {_both(spent, delta)}"


def budget_line(budget: Budget, spent: Spent, kind: Kind) -> str:
    """The line on what is left."""
    used = spent.epsilon(budget.delta)
    room = budget.room(spent, kind, _MOST_ROOM)
    more = "over " if room == _MOST_ROOM else ""
    return (
        f"budget {_number(budget.epsilon)} for everything replaced, delta {budget.delta:g}: "
        f"{_number(used)} spent, room for {more}{room} more rows"
    )


def penalty_line(penalty: float) -> str:
    """The reason why replies are sampled otherwise than the model's makers recommend."""
    return f"the model's own repetition penalty ({penalty:g}) is off: it looks at the clean prompt"


def _both(spent: Spent, delta: float) -> str:
    times = "once" if spent.sendings == 1 else f"up to {spent.sendings} times"
    rows = "1 row" if spent.rows == 1 else f"all {spent.rows} rows"
    return (
        f"one token replaced, sent {times}: {_epsilon(spent.token_epsilon(delta))}; "
        f"{rows} replaced: {_epsilon(spent.epsilon(delta))}"
    )


def _epsilon(epsilon: float) -> str:
    return f"epsilon {_number(epsilon)}"


def _number(epsilon: float) -> str:
    """Two decimals, rounded up; in words where nothing is proven."""
    if not math.isfinite(epsilon):
        return "without bound (too little noise)"
    return f"{math.ceil(epsilon * 100 - 1e-6) / 100:.2f}"
