"""Lengths and timing: what counts and clocks tell without a look at any number in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from split_client.audit.attacks.observed import Observed


@dataclass(frozen=True, slots=True)
class Lengths:
    """Counts in tokens, times in seconds; ``device`` is the median wait for the next row."""

    prompt: int
    reply: int
    prefill: float
    device: float | None


def lengths(observed: Observed, frame: int) -> Lengths:
    """Read them off; ``frame`` tokens of the prompt are the chat template's."""
    steps, first = observed.steps, observed.prompt_steps
    waits = [
        later.sent - earlier.answered
        for earlier, later in zip(steps[first - 1 :], steps[first:], strict=False)
    ]
    prefill = steps[first - 1].answered - steps[0].sent
    return Lengths(
        len(observed.prompt_rows) - frame,
        len(observed.reply_states),
        prefill,
        median(waits) if waits else None,
    )


def identified(seen: Sequence[int], candidates: Sequence[int]) -> float:
    """The share of messages that a length picks out of a known list.

    ``seen``: lengths of recorded messages; ``candidates``: those of all messages that could have
    been sent. Of several candidates of one length one is picked at random, on average.
    """
    counts = Counter(candidates)
    return sum(1 / counts[length] for length in seen if counts[length]) / len(seen)
