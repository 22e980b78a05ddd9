"""Drafts beside the engine: where nobody waits, and as long as rows are measured to be free."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from split_client.generation.loop import TokenEvent
from split_client.generation.speculation.drafts import Draft, DraftSource, StepCost
from split_server.compat.drafting.beside import BesideDrafter, Drafting, PassCosts
from split_server.compat.generator import Generator
from split_server.compat.keeping import Keeping
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_wire.attention import AttentionRequest
from tests import oracle
from tests.engines import run
from tests.split_server.compat.generating import (
    PROMPT,
    events_of,
    generating,
    ids_of,
    request,
    until,
)

COUNT = 60


@dataclass
class Passes:
    """An engine whose passes take so long by rows."""

    seconds: dict[int, float] = field(default_factory=dict)
    others: bool = False

    def alone(self) -> bool:
        return not self.others

    def pass_seconds(self, rows: int) -> float:
        return next((took for size, took in self.seconds.items() if rows <= size), 0.0)


@dataclass
class Source:
    """Always the same guess, never followed by anything else."""

    name: str = "suffix"
    followed: int = 0

    def follow(self, tokens: object) -> None:
        self.followed += 1

    def draft(self, most: int) -> Draft:
        return Draft(self.name, (7,) * most, 8)

    def forget(self) -> None:
        pass


def stepped(drafter: BesideDrafter, seconds: float) -> None:
    drafter.stepped(StepCost(1, 1, seconds, seconds, 0.0))


def learned(drafter: BesideDrafter, right: int) -> None:
    """So many tokens of the source were right."""
    for _ in range(right):
        drafter.judged(Draft("suffix", (7,), 8), 1)


def test_free_rows_are_filled_and_dear_ones_are_not() -> None:
    source: DraftSource = Source()
    passes = Passes({4: 0.010, 8: 0.030, 16: 0.100})
    drafter = BesideDrafter([source], passes)
    stepped(drafter, 0.011)
    learned(drafter, 30)
    assert len(drafter.draft([1, 2], 15).tokens) in (3, 7)
    passes.seconds = {1: 0.010, 16: 0.300}
    assert drafter.draft([1, 2], 15).tokens == ()
    passes.seconds = {16: 0.010}
    assert len(drafter.draft([1, 2], 15).tokens) == 15


def test_while_others_wait_nothing_is_guessed_and_no_time_is_spent_on_it() -> None:
    source, passes = Source(), Passes({16: 0.010})
    drafter = BesideDrafter([source], passes)
    stepped(drafter, 0.010)
    passes.others = True
    assert drafter.draft([1, 2], 15).tokens == ()
    assert source.followed == 0
    passes.others = False
    assert drafter.draft([1, 2], 15).tokens


def test_rows_cost_nothing_more_while_no_pass_was_measured() -> None:
    costs = PassCosts(Passes())
    costs.stepped(StepCost(1, 1, 0.5, 0.4, 0.0))
    assert costs.of(16) == costs.step == 0.5


def test_what_wants_a_step_for_each_token_has_no_drafter() -> None:
    drafting = Drafting(None)
    attention = AttentionRequest()
    assert drafting.drafter("one", request(attention=attention), Passes()) is None
    assert drafting.drafter("one", request(count=1), Passes()) is None
    assert drafting.drafter("one", request(), Passes()) is not None


def reuse() -> Reuse:
    return Reuse(RunPool(PoolLimits()), Namespaces("of the test"), frozenset({"anybody"}))


def test_nothing_is_remembered_of_whom_many_may_be_or_where_nothing_is_kept() -> None:
    kept = Drafting(reuse())
    for principal, salt, count in (("anybody", None, 0), ("anybody", "a", 1), ("one", None, 2)):
        kept.drafter(principal, request(keeping=Keeping(salt)), Passes())
        assert len(kept.memories) == count
    nothing = Drafting(None)
    nothing.drafter("one", request(), Passes())
    assert len(nothing.memories) == 0


def test_what_is_purged_of_a_principal_is_not_drafted_from() -> None:
    async def main() -> int:
        held = reuse()
        drafting = Drafting(held)
        drafting.drafter("one", request(), Passes())
        await held.purge("one", None)
        held.close()
        return len(drafting.memories)

    assert asyncio.run(main()) == 0


async def _expected(generator: Generator, ids: list[int]) -> list[Any]:
    asked = request(count=COUNT, expected=tuple(ids))
    return await events_of(generator, asked)


def test_an_expected_reply_needs_fewer_passes_and_is_the_same(family_path: Path) -> None:
    ids = oracle.greedy(family_path, list(PROMPT), COUNT)

    async def main() -> tuple[list[Any], dict[str, int]]:
        async with generating(family_path) as generator:
            events = await _expected(generator, ids)
            await until(lambda: generator.counters.generations == 1)
            return events, generator.counters.drafts.document()

    events, figures = run(main())
    assert ids_of(events) == ids
    assert len(ids) / 4 < figures["passes_saved"] <= figures["accepted"]
    told = [event for event in events if isinstance(event, TokenEvent)]
    assert {event.draft_source for event in told if event.drafted} <= {"given", "suffix"}


def test_a_wrong_expectation_changes_no_token(family_path: Path) -> None:
    ids = oracle.greedy(family_path, list(PROMPT), COUNT)

    async def main() -> list[int]:
        async with generating(family_path) as generator:
            wrong = [token if index % 7 else 3 for index, token in enumerate(ids)]
            return ids_of(await _expected(generator, wrong))

    assert run(main()) == ids


def test_generations_at_the_same_time_draft_nothing(tiny_path: Path) -> None:
    ids = oracle.greedy(tiny_path, list(PROMPT), COUNT)

    async def main() -> tuple[list[list[int]], int]:
        async with generating(tiny_path) as generator:
            both = await asyncio.gather(*(_expected(generator, ids) for _ in range(2)))
            await until(lambda: generator.counters.generations == 2)
            return [ids_of(events) for events in both], generator.counters.drafts.drafted

    both, drafted = run(main())
    assert both == [ids, ids]
    # What the first one sends before the second has come, and after the last has gone.
    assert drafted < COUNT


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_a_draft_never_goes_beyond_the_reply(tiny_path: Path, limit: int) -> None:
    ids = oracle.greedy(tiny_path, list(PROMPT), COUNT)

    async def main() -> list[Any]:
        async with generating(tiny_path) as generator:
            return await events_of(generator, request(count=limit, expected=tuple(ids)))

    events = run(main())
    assert ids_of(events) == ids[:limit]
    assert sum(event.drafted for event in events[:-1]) < max(limit, 1)
