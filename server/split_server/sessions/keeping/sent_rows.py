"""Rows that a session was sent and states that it was answered with, for an audit of them."""

from __future__ import annotations

from dataclasses import dataclass

from split_wire.messages import Splice, Step
from split_wire.splice import gaps
from split_wire.tensor import Tensor

# States behind moved rows that are compared.
MOST_STATES = 8


@dataclass(frozen=True, slots=True)
class Replied:
    """``rows`` [n, H] of all positions up to the last of ``states``, each [1, H] with its position;
    all of them are among the last ``count`` ones.
    """

    rows: Tensor
    states: tuple[tuple[int, Tensor], ...]

    @property
    def count(self) -> int:
        """Positions from the first state on."""
        return self.rows.rows - self.states[0][0]


class SentRows:
    """Of one session from its beginning on, at most ``most`` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows = list[Tensor]()
        self._states = list[tuple[int, Tensor]]()

    def replied(self, start: int | None = None) -> Replied | None:
        """What is to be compared: once there are enough states, or some that a step with ``start``
        is about to cut off.
        """
        if not self._states:
            return None
        last = self._states[-1][0]
        cut_off = start is not None and start <= last
        if not cut_off and len(self._states) < MOST_STATES:
            return None
        return Replied(_joined(self._rows[: last + 1]), tuple(self._states))

    def take(self, step: Step, hidden: Tensor) -> bool:
        """A ``step`` was answered with ``hidden`` states; False where some rows were not sent, or
        are too many to be remembered.
        """
        if step.start > len(self._rows) or not _has_all_rows(step):
            return False
        own = [step.embeddings.part(at, at + 1) for at in range(step.embeddings.rows)]
        if isinstance(step, Splice):
            own = own + self._behind(step) if step.blend else self._between(step, own)
        self._rows[step.start :] = own
        self._states = [each for each in self._states if each[0] < step.start]
        if not isinstance(step, Splice):
            state = hidden.part(hidden.rows - 1, hidden.rows)
            self._states.append((len(self._rows) - 1, state))
        size = len(self._rows[0].data) * len(self._rows)
        return size <= self._most and step.adapter is None

    def watch(self, moved: bool) -> None:
        """Only states behind rows that were ``moved`` are of interest."""
        if not moved:
            self._states.clear()

    def _behind(self, splice: Splice) -> list[Tensor]:
        """The rows that are only moved, behind those that ``splice`` brings."""
        reach = splice.start + splice.embeddings.rows
        spans = (span for span in splice.spans if span.new >= reach)
        return [row for span in spans for row in self._rows[span.old : span.old + span.rows]]

    def _between(self, splice: Splice, own: list[Tensor]) -> list[Tensor]:
        """The rows behind the start of ``splice``, of which it brings its ``own``."""
        rows = list[Tensor]()
        parts = gaps(splice.start, splice.spans, len(own))
        for (first, last), span in zip(parts, [*splice.spans, None], strict=True):
            rows += own[first:last]
            rows += self._rows[span.old : span.old + span.rows] if span is not None else []
        return rows


def _has_all_rows(step: Step) -> bool:
    """False where ``step`` takes rows of documents that nobody sends."""
    if not isinstance(step, Splice) or not step.sources:
        return True
    reach = step.start + step.embeddings.rows
    return step.blend > 0 and all(span.new < reach for span in step.spans)


def _joined(rows: list[Tensor]) -> Tensor:
    first = rows[0]
    data, scales = (b"".join(parts) for parts in ([r.data for r in rows], [r.scales for r in rows]))
    return Tensor(first.dtype, (len(rows), first.width), data, scales)
