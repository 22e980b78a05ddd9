"""What is remembered of replies is its principal's own, within bounds, and goes when told."""

from __future__ import annotations

import pytest

from split_server.compat.drafting.memories import Memories, Recalled


def recalls(recalled: Recalled) -> bool:
    recalled.follow([1, 2, 3])
    return recalled.draft(4) is not None


def remembering(memories: Memories, principal: str, salt: str | None = None) -> None:
    memories.of(principal, salt).replied([1, 2, 3], [4, 5, 6])


def test_another_principal_or_salt_recalls_nothing() -> None:
    memories = Memories()
    remembering(memories, "one", "a")
    assert recalls(memories.of("one", "a"))
    assert not recalls(memories.of("one", "b"))
    assert not recalls(memories.of("one", None))
    assert not recalls(memories.of("two", "a"))


def test_two_generations_of_a_principal_do_not_disturb_each_other() -> None:
    memories = Memories()
    remembering(memories, "one")
    first, second = memories.of("one", None), memories.of("one", None)
    first.follow([1, 2, 3])
    second.follow([1, 2, 3, 4, 5])
    drafts = [first.draft(9), second.draft(9)]
    assert [draft.tokens for draft in drafts if draft] == [(4, 5, 6), (6,)]


def test_the_principals_that_were_away_longest_are_forgotten() -> None:
    memories = Memories(most=2)
    for principal in ("one", "two"):
        remembering(memories, principal)
    memories.of("one", None)
    remembering(memories, "three")
    assert len(memories) == 2
    assert recalls(memories.of("one", None))
    assert not recalls(memories.of("two", None))


def test_the_salts_of_one_principal_cost_no_other_its_own() -> None:
    memories = Memories(most=4)
    remembering(memories, "one")
    for salt in range(20):
        remembering(memories, "many", str(salt))
    assert len(memories) == 4
    assert recalls(memories.of("one", None))
    assert [recalls(memories.of("many", str(salt))) for salt in (19, 18, 17)] == [True] * 3


@pytest.mark.parametrize(("salt", "left"), [("a", [False, True]), (None, [False, False])])
def test_what_is_purged_is_gone_also_for_generations_that_run(
    salt: str | None, left: list[bool]
) -> None:
    memories = Memories()
    running = []
    for one in ("a", "b"):
        remembering(memories, "one", one)
        running.append(memories.of("one", one))
    memories.purge("one", salt)
    assert [recalls(recalled) for recalled in running] == left
    # Nor does what they say from now on come back.
    running[0].replied([1, 2, 3], [7, 8])
    assert [recalls(memories.of("one", one)) for one in ("a", "b")] == left


def test_principals_that_are_gone_are_forgotten() -> None:
    memories = Memories()
    remembering(memories, "one")
    remembering(memories, "two")
    memories.forget(lambda principal: principal == "one")
    assert not recalls(memories.of("one", None))
    assert recalls(memories.of("two", None))
