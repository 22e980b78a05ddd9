"""The tally of mixed clients, by kind: replies, pieces, breaks, failures by cause, silences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from scripts.bench.clients.speaker import ReplyFailed

# A server that says so has a fault; every other code is a cause with a name.
_FAULTS = frozenset({"internal", "internal_error", "server_error"})


@dataclass(slots=True)
class Tally:
    """``asked`` = ``finished`` + ``broken`` (by the bench) + all failures; ``pieces``: events with
    text, about a token each; ``failures`` by the server's codes, ``unnamed``: those without one;
    ``different``: finished replies that are not the one made alone.

    Seconds: ``first``, the longest wait for a first piece, and ``silence``, for any later one.
    """

    asked: int = 0
    finished: int = 0
    broken: int = 0
    pieces: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    first: float = 0.0
    silence: float = 0.0

    @property
    def failed(self) -> int:
        """Replies that failed."""
        return self.failures.total() + len(self.unnamed)

    def waited(self, seconds: float, *, first: bool) -> None:
        """A client waited for a piece, or for the end of a reply."""
        if first:
            self.first = max(self.first, seconds)
        else:
            self.silence = max(self.silence, seconds)

    def fail(self, failure: ReplyFailed) -> None:
        """A reply failed."""
        if failure.code is None or failure.code.lower() in _FAULTS:
            self.unnamed.append(f"{failure.code or 'no code'}: {failure}")
        else:
            self.failures[failure.code] += 1

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Tally:
        """From :meth:`document`."""
        return cls(**{**document, "failures": Counter(document["failures"])})


def together(tallies: Iterable[Tally]) -> Tally:
    """All of them as one."""
    total = Tally()
    for one in tallies:
        total.asked += one.asked
        total.finished += one.finished
        total.broken += one.broken
        total.pieces += one.pieces
        total.failures += one.failures
        total.unnamed += one.unnamed
        total.different += one.different
        total.first = max(total.first, one.first)
        total.silence = max(total.silence, one.silence)
    return total
