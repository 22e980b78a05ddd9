"""The order in which the scheduler serves steps, sessions and principals."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from split_server.engine.job import Abandoned, Outcome, StepJob
from split_server.engine.pending import PendingStep
from split_server.engine.scheduler import Plan, Scheduler
from split_server.kv.cache import KVCache
from split_wire.tensor import Tensor


@dataclass
class Asked:
    """A step with its name, and whether anybody waits for it."""

    name: str
    rows: int
    principal: str = "ann"
    wanted: bool = True
    start: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def step(self) -> PendingStep:
        embeddings = Tensor("f32", (self.rows, 1), bytes(4 * self.rows))
        job = StepJob(KVCache(), self.start, embeddings, "last", "f32", self.principal)
        return PendingStep(job, self.outcomes.append, lambda: self.wanted, 0.0)


class Table:
    """A scheduler that knows its steps by name."""

    def __init__(self, *asked: Asked, **limits: int) -> None:
        self.scheduler = Scheduler(**limits)
        self.names: dict[int, str] = {}
        self.steps: dict[str, PendingStep] = {}
        for one in asked:
            self.add(one)

    def add(self, asked: Asked) -> None:
        step = asked.step()
        self.names[id(step)] = asked.name
        self.steps[asked.name] = step
        self.scheduler.add(step)

    def plan(self, prefill_rows: int = 100) -> list[tuple[str, int]]:
        """Plan a pass and count its rows as served."""
        import torch

        plan: Plan = self.scheduler.plan(lambda _: prefill_rows)
        for step, rows in plan:
            step.advance(torch.zeros(rows, 1), 0.0)
        return [(self.names[id(step)], rows) for step, rows in plan]


def test_decode_steps_of_all_sessions_share_a_pass() -> None:
    table = Table(*(Asked(f"chat {i}", 1, f"user {i}") for i in range(5)))
    assert table.plan() == [(f"chat {i}", 1) for i in range(5)]
    assert len(table.scheduler) == 0


def test_a_prefill_is_served_in_slices_beside_decoding() -> None:
    table = Table(Asked("long", 250), Asked("chat", 1, "bob"))
    assert table.plan() == [("chat", 1), ("long", 100)]
    assert table.plan() == [("long", 100)]
    assert table.plan() == [("long", 50)]
    assert len(table.scheduler) == 0


@pytest.mark.parametrize(
    ("start", "rows", "budget", "slices"),
    [
        (0, 512, 200, [128, 128, 128, 128]),
        (0, 512, 256, [256, 256]),
        (100, 500, 256, [156, 256, 88]),
        (0, 300, 127, [127, 127, 46]),
        # One pass more for six rows is not worth it.
        (1158, 512, 256, [256, 256]),
    ],
)
def test_slices_end_at_multiples_of_128_positions_where_the_budget_allows_it(
    start: int, rows: int, budget: int, slices: list[int]
) -> None:
    table = Table(Asked("long", rows, start=start))
    assert [table.plan(budget) for _ in slices] == [[("long", count)] for count in slices]
    assert len(table.scheduler) == 0


def test_what_one_prefill_leaves_goes_to_the_next() -> None:
    table = Table(Asked("first", 60), Asked("second", 60))
    assert table.plan() == [("first", 60), ("second", 40)]
    assert table.plan() == [("second", 20)]


def test_principals_take_turns_however_many_sessions_one_has() -> None:
    greedy = [Asked(f"greedy {i}", 100, "greedy") for i in range(4)]
    table = Table(*greedy, Asked("modest", 100, "modest"))
    order = [name for _ in range(5) for name, _ in table.plan()]
    assert order.index("modest") <= 1
    assert len(order) == 5


def test_a_principal_that_comes_later_is_not_owed_for_its_absence() -> None:
    table = Table(Asked("old", 1000, "old"))
    for _ in range(5):
        table.plan()
    table.add(Asked("new", 1000, "new"))
    names = [table.plan()[0][0] for _ in range(6)]
    assert names.count("old") == names.count("new") == 3


def test_a_principal_cannot_start_over_by_pausing() -> None:
    table = Table(Asked("steady", 1000, "steady"), Asked("pausing", 100, "pausing"))
    names = [table.plan()[0][0] for _ in range(2)]
    assert sorted(names) == ["pausing", "steady"]
    table.add(Asked("again", 100, "pausing"))
    later = [table.plan()[0][0] for _ in range(2)]
    assert sorted(later) == ["again", "steady"]


def test_steps_that_nobody_waits_for_are_abandoned_and_cost_nothing() -> None:
    gone, gone_long = Asked("gone", 1, wanted=False), Asked("gone long", 50, wanted=False)
    table = Table(gone, gone_long, Asked("chat", 1), Asked("long", 50))
    assert table.plan() == [("chat", 1), ("long", 50)]
    assert isinstance(gone.outcomes[0], Abandoned)
    assert isinstance(gone_long.outcomes[0], Abandoned)


def test_a_step_is_abandoned_between_its_slices() -> None:
    long = Asked("long", 500)
    table = Table(long)
    assert table.plan() == [("long", 100)]
    long.wanted = False
    assert table.plan() == []
    assert len(table.scheduler) == 0


def test_a_pass_is_bounded_in_sessions_and_in_rows() -> None:
    chats = [Asked(f"chat {i}", 1) for i in range(5)]
    table = Table(*chats, max_sessions=3)
    assert [len(table.plan()), len(table.plan())] == [3, 2]
    forced = [Asked(f"forced {i}", 16) for i in range(5)]
    table = Table(*forced, Asked("long", 500), max_rows=48)
    assert [sum(rows for _, rows in table.plan()) for _ in range(2)] == [48, 48]


def test_a_step_that_failed_is_forgotten_by_its_principal() -> None:
    table = Table(Asked("bad", 200), Asked("good", 50))
    assert table.plan() == [("bad", 100)]
    table.scheduler.withdraw(table.steps["bad"])
    assert table.plan() == [("good", 50)]
    table.scheduler.withdraw(table.steps["good"])
    assert len(table.scheduler) == 0


def test_short_steps_of_one_principal_leave_rows_to_another_ones_prefill() -> None:
    crowd = [Asked(f"draft {i}", 16, "greedy") for i in range(31)]
    table = Table(*crowd, Asked("long", 512, "modest"))
    served = [dict(table.plan(prefill_rows=64)) for _ in range(8)]
    assert [one["long"] for one in served] == [64] * 8
    assert [len(one) - 1 for one in served] == [4, 4, 4, 4, 4, 4, 4, 3]


def test_short_steps_of_many_principals_leave_a_quarter_of_the_pass_to_prefill() -> None:
    crowd = [Asked(f"{name} {i}", 16, name) for name in "abcdefgh" for i in range(8)]
    table = Table(*crowd, Asked("long", 512, "modest"))
    assert dict(table.plan(prefill_rows=256))["long"] == 64


def test_a_principal_alone_has_the_whole_pass_for_its_short_steps() -> None:
    table = Table(*(Asked(f"draft {i}", 16, "ann") for i in range(16)))
    assert sum(rows for _, rows in table.plan()) == 256


def test_a_token_does_not_wait_behind_the_short_steps_of_a_crowd() -> None:
    crowd = [Asked(f"{name} {i}", 16, name) for name in "abcdef" for i in range(31)]
    table = Table(*crowd)
    for number in range(5):
        table.add(Asked(f"token {number}", 1, "modest"))
        assert (f"token {number}", 1) in table.plan()


def test_crowds_of_short_steps_take_turns() -> None:
    crowd = [Asked(f"{name} {i}", 16, name) for name in "abcdefgh" for i in range(16)]
    table = Table(*crowd)
    first = {name[0] for name, _ in table.plan()}
    second = {name[0] for name, _ in table.plan()}
    assert first | second == set("abcdefgh")


def test_short_steps_count_against_the_prefill_of_their_principal() -> None:
    table = Table(Asked("long of crowd", 1000, "crowd"))
    table.plan(10)
    table.add(Asked("long of modest", 1000, "modest"))
    served = {"long of crowd": 0, "long of modest": 0}
    for number in range(20):
        for place in range(4):
            table.add(Asked(f"draft {number} {place}", 16, "crowd"))
        for name, rows in table.plan(32):
            if name in served:
                served[name] += rows
    assert served["long of modest"] > 15 * served["long of crowd"]


def test_a_pass_never_has_more_rows_than_it_may() -> None:
    table = Table(*(Asked(f"draft {i}", 7, f"user {i}") for i in range(60)))
    assert sum(rows for _, rows in table.plan()) <= 256


def test_the_rows_of_short_steps_are_told_to_the_budget() -> None:
    table = Table(*(Asked(f"draft {i}", 16) for i in range(3)), Asked("long", 100))
    told: list[int] = []
    table.scheduler.plan(lambda rows: told.append(rows) or 8)
    assert told == [48]
