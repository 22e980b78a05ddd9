"""Who waits for whom where several steps need the same blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
import torch

from split_server.engine.job import Outcome, StepJob
from split_server.engine.leaders import Leaders
from split_server.engine.pending import PendingStep
from split_server.kv.cache import KVCache
from split_wire.tensor import Tensor

BLOCK = 16


@dataclass
class Kept:
    """Names of blocks that are kept; ``full``: nothing more is."""

    names: set[bytes] = field(default_factory=set)
    full: bool = False


@dataclass
class Rows:
    """The rows of a text, a letter for each block."""

    text: str
    kept: Kept
    finds: bool = True

    @property
    def blocks(self) -> list[tuple[int, bytes]]:
        count = range(1, len(self.text) + 1)
        return [(BLOCK * at, self.text[:at].encode()) for at in count]

    def known(self) -> int:
        return max((end for end, name in self.blocks if name in self.kept.names), default=0)

    def take_in(self, waited_from: int | None) -> int:
        return self.known()

    def give(self, end: int) -> None:
        if not self.kept.full:
            self.kept.names.update(name for at, name in self.blocks if at <= end)


class Table:
    """Steps by name, and those who wait."""

    def __init__(self) -> None:
        self.leaders, self.kept = Leaders(), Kept()
        self.names: dict[PendingStep, str] = {}
        self.unwanted: set[str] = set()

    def step(self, name: str, text: str, *, finds: bool = True) -> PendingStep:
        rows = BLOCK * len(text)
        job = StepJob(
            KVCache(),
            0,
            Tensor("f32", (rows, 1), bytes(4 * rows)),
            "last",
            "f32",
            shared=Rows(text, self.kept, finds),
        )
        outcomes: list[Outcome] = []
        step = PendingStep(job, outcomes.append, lambda: name not in self.unwanted, 0.0)
        self.names[step] = name
        return step

    def add(self, name: str, text: str, *, finds: bool = True) -> tuple[PendingStep, bool]:
        step = self.step(name, text, finds=finds)
        return step, self.leaders.holds_back(step)

    def ended(self, step: PendingStep, *, failed: bool = False) -> None:
        assert step.job.shared is not None
        if not failed:
            step.job.shared.give(step.job.embeddings.rows)
        self.leaders.left(step, failed=failed)

    def due(self) -> list[tuple[str, bool]]:
        """Who goes on or waits again, of those who are due."""
        due = self.leaders.due()
        return [(self.names[step], self.leaders.holds_back(step)) for step in due]


def test_the_first_leads_and_the_others_wait_for_it() -> None:
    table = Table()
    first, waits = table.add("first", "aaaaaa")
    assert not waits
    assert table.add("second", "aaaaab")[1]
    assert table.add("third", "aaaacc")[1]
    assert table.due() == []
    table.ended(first)
    assert table.due() == [("second", False), ("third", False)]
    assert len(table.leaders) == 0


@pytest.mark.parametrize(("common", "waits"), [(3, False), (4, True)])
def test_fewer_than_64_rows_are_not_worth_waiting_for(common: int, waits: bool) -> None:
    table = Table()
    table.add("first", "aaaaaa")
    assert table.add("second", "a" * common + "bbbbbb")[1] is waits


def test_what_is_kept_already_is_not_waited_for() -> None:
    table = Table()
    table.kept.names |= {b"a", b"aa", b"aaa"}
    table.add("first", "aaaaaa")
    assert not table.add("second", "aaaaaa")[1]
    assert table.add("third", "aaaaaaaa")[1] is False
    longer, _ = table.add("longer", "aaaaaaaaaa")
    assert longer.waited_from == 48


def test_a_step_waits_only_for_as_much_as_it_shares() -> None:
    table = Table()
    first, _ = table.add("first", "aaaaaaaaaaaa")
    table.add("second", "aaaabb")
    table.add("third", "aaaaaaaabb")
    first.advance(torch.zeros(64, 1), 0.0)
    table.leaders.advanced(first)
    assert table.due() == [("second", False)]
    assert table.kept.names == {b"a", b"aa", b"aaa", b"aaaa"}
    first.advance(torch.zeros(32, 1), 0.0)
    table.leaders.advanced(first)
    assert table.due() == []
    table.ended(first)
    assert table.due() == [("third", False)]


@pytest.mark.parametrize("waiting", [False, True])
def test_the_next_one_leads_when_the_first_fails(waiting: bool) -> None:
    table = Table()
    first, _ = table.add("first", "aaaaaa")
    second, _ = table.add("second", "aaaaab")
    table.add("third", "aaaaab")
    if waiting:
        # Second is waited for although it waits itself, and is given up meanwhile.
        table.unwanted.add("second")
        assert table.leaders.unwanted() == [second]
        table.ended(second, failed=True)
        assert table.due() == [("third", True)]
        table.ended(first)
        assert table.due() == [("third", False)]
        return
    table.ended(first, failed=True)
    # The third one shares more with the second, and waits for it all the while.
    assert table.due() == [("second", False)]
    assert len(table.leaders) == 1
    table.ended(second)
    assert table.due() == [("third", False)]


def test_where_nothing_could_be_kept_nobody_waits_twice() -> None:
    table = Table()
    table.kept.full = True
    first, _ = table.add("first", "aaaaaa")
    for name in ("second", "third"):
        assert table.add(name, "aaaaaa")[1]
    table.ended(first)
    assert table.due() == [("second", False), ("third", False)]


def test_rows_that_are_all_asked_for_lead_but_never_wait() -> None:
    table = Table()
    table.add("first", "aaaaaa", finds=False)
    assert not table.add("second", "aaaaaa", finds=False)[1]
    assert table.add("third", "aaaaaa")[1]


def test_steps_without_names_are_let_through() -> None:
    job = StepJob(KVCache(), 0, Tensor("f32", (96, 1), bytes(384)), "last", "f32")
    outcomes: list[Outcome] = []
    assert not Leaders().holds_back(PendingStep(job, outcomes.append, lambda: True, 0.0))


def test_whatever_order_steps_end_in_all_of_them_end() -> None:
    texts = ["aaaaaa", "aaaabbbb", "aaaabbbbcccc", "aaaaaadddd", "bbbbbb", "aaaabbbb"]
    for number, order in enumerate(itertools.permutations(range(len(texts)))):
        table = Table()
        running = []
        for at, text in enumerate(texts):
            step, waits = table.add(str(at), text)
            if not waits:
                running.append(step)
        ended = 0
        while running:
            running.sort(key=lambda step: order[int(table.names[step])])
            step = running.pop(0)
            table.ended(step, failed=(ended + number) % 3 == 0)
            ended += 1
            due = table.leaders.due()
            running += [one for one in due if not table.leaders.holds_back(one)]
        assert ended == len(texts)
        assert len(table.leaders) == 0
