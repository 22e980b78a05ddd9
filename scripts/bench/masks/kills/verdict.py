"""What the journals of all processes say: whether anything of a mask came twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Verdict:
    """``counts`` of what happened, ``killed`` by step, and ``problems``: each a mask used twice."""

    counts: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, device: Path, host: Path) -> Verdict:
        """Of the journals of all devices and of all hosts."""
        made = cls()
        made._devices(_lines(device))
        made._hosts(_lines(host))
        return made

    def _devices(self, lines: list[list[str]]) -> None:
        by_r, by_sent = defaultdict(set), Counter[str]()
        taken: dict[str, int] = {}
        for kind, *rest in lines:
            self.counts[f"device {kind}"] += 1
            match kind, rest:
                case "killed", [step]:
                    self.killed[f"device {step}"] += 1
                case "use", [_, r, sent]:
                    by_r[r].add(sent)
                    by_sent[sent] += 1
                case "take", [name, first, count]:
                    if int(first) < taken.get(name, 0):
                        self.problems.append(f"a device took number {first} again")
                    taken[name] = int(first) + int(count)
        self._once("r", by_r)
        self.problems += [f"{sent} was sent twice" for sent, n in by_sent.items() if n > 1]

    def _hosts(self, lines: list[list[str]]) -> None:
        seen, kept, made = defaultdict(set), defaultdict(set), defaultdict(set)
        given: dict[str, int] = {}
        for kind, *rest in lines:
            self.counts[f"host {kind}"] += 1
            match kind, rest:
                case "killed", [step]:
                    self.killed[f"host {step}"] += 1
                case "give", [name, first, count]:
                    if int(first) < given.get(name, 0):
                        self.problems.append(f"a host gave number {first} again")
                    given[name] = int(first) + int(count)
                case "see", [_, number, sent]:
                    seen[number].add(sent)
                case "make", [_, number, query]:
                    made[number].add(query)
                case "spend", [share, sent]:
                    kept[share].add(sent)
        self._once("number used", seen)
        self._once("number made", made)
        self._once("s", kept)

    def _once(self, what: str, found: dict[str, set[str]]) -> None:
        twice = [key for key, values in found.items() if len(values) > 1]
        self.problems += [f"{what} {key} came with {len(found[key])} values" for key in twice]
        self.counts[f"different: {what}"] = len(found)


def _lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []
