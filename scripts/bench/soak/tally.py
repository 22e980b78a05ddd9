"""The tally of a soak: what its clients did and heard, failures by cause, how long they waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# Shorter waits are not worth a line each.
LONG_WAIT = 1.0

# Prompt ids and the seed of the sampler, None: greedy. It decides a whole reply.
Asked = tuple[tuple[int, ...], int | None]


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply or, not ``whole``, the beginning of one."""

    ids: tuple[int, ...]
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """Of one token, by the monotonic clock; ``fault``: what the client's own network did in it."""

    began: float
    ended: float
    fault: str

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(slots=True)
class SoakTally:
    """``heard``: how often each reply was heard to each of what was asked."""

    done: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    heard: dict[Asked, Counter[Heard]] = field(default_factory=dict)

    def waited(self, wait: Wait) -> None:
        """A token took that long."""
        self.done["token"] += 1
        if wait.seconds >= LONG_WAIT:
            self.waits.append(wait)

    def hear(self, asked: Asked, heard: Heard) -> None:
        """A reply came, or its beginning."""
        self.done["whole reply" if heard.whole else "beginning of a reply"] += 1
        self.heard.setdefault(asked, Counter())[heard] += 1

    def document(self) -> dict[str, Any]:
        """As JSON."""
        heard = [
            [ids, seed, [[one.ids, one.text, one.whole, count] for one, count in counter.items()]]
            for (ids, seed), counter in self.heard.items()
        ]
        waits = [[wait.began, wait.ended, wait.fault] for wait in self.waits]
        return {
            "done": self.done,
            "failures": self.failures,
            "unnamed": self.unnamed,
            "waits": waits,
            "heard": heard,
        }

    @classmethod
    def of(cls, document: dict[str, Any]) -> SoakTally:
        """From :meth:`document`."""
        heard: dict[Asked, Counter[Heard]] = {
            (tuple(ids), seed): Counter(
                {Heard(tuple(new), text, whole): count for new, text, whole, count in replies}
            )
            for ids, seed, replies in document["heard"]
        }
        return cls(
            Counter(document["done"]),
            Counter(document["failures"]),
            document["unnamed"],
            [Wait(*wait) for wait in document["waits"]],
            heard,
        )


def together(tallies: Iterable[SoakTally]) -> SoakTally:
    """All of them as one."""
    total = SoakTally()
    for one in tallies:
        total.done += one.done
        total.failures += one.failures
        total.unnamed += one.unnamed
        total.waits += one.waits
        for asked, counter in one.heard.items():
            total.heard.setdefault(asked, Counter()).update(counter)
    return total
