"""The tally of a churn: what its users did, what went wrong and why, and how long they waited."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any, Self

# A server that says so has a fault; everything else that it says is a cause with a name.
FAULTS = frozenset({"internal_error"})


@dataclass(slots=True)
class Tally:
    """``done``: actions by kind; ``failures``: failed steps by the code of their cause;
    ``unnamed``: failures that nothing explains, as text; times in seconds.

    ``samples``: replies to verify, each the ids before it and its own.
    """

    done: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)
    ttft: list[float] = field(default_factory=list)
    per_token: list[float] = field(default_factory=list)
    queue: list[float] = field(default_factory=list)
    samples: list[tuple[list[int], list[int]]] = field(default_factory=list)

    def failed(self, code: str) -> None:
        """A step failed with a cause that the server or the bench itself names."""
        self.failures[code] += 1
        if code in FAULTS:
            self.unnamed.append(f"the server reported {code}")

    def unexplained(self, reason: str) -> None:
        """A failure without a named cause."""
        self.unnamed.append(reason)

    def add(self, other: Tally) -> None:
        """Take in what another process counted."""
        self.done += other.done
        self.failures += other.failures
        for mine, theirs in (
            (self.unnamed, other.unnamed),
            (self.ttft, other.ttft),
            (self.per_token, other.per_token),
            (self.queue, other.queue),
            (self.samples, other.samples),
        ):
            mine += theirs  # type: ignore[operator]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """From :meth:`document`."""
        counters = {name: Counter(document[name]) for name in ("done", "failures")}
        samples = [(before, new) for before, new in document["samples"]]
        return cls(**{**document, **counters, "samples": samples})
