"""The count of queries: exact while the host runs, never too low after it died."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from split_server.adapter_host.budget import QueryBudget, StateFile
from split_server.adapter_host.errors import BudgetExhausted, HostStateUnusable
from tests.pipes import pipe


def _spend(budget: QueryBudget, count: int, principal: str = "ada") -> None:
    for _ in range(count):
        budget.spend(principal, "banking")
        asyncio.run(budget.secure(principal, "banking"))


def test_each_principal_has_its_own_budget_of_each_adapter() -> None:
    budget = QueryBudget(2)
    _spend(budget, 2)
    with pytest.raises(BudgetExhausted, match="all 2 queries of adapter 'banking'"):
        _spend(budget, 1)
    budget.spend("ada", "other")
    budget.spend("babbage", "banking")
    assert (budget.left("ada", "banking"), budget.left("babbage", "banking")) == (0, 1)


def test_without_a_limit_nothing_is_ever_exhausted() -> None:
    budget = QueryBudget(0)
    _spend(budget, 1000)
    assert budget.left("ada", "banking") is None


def test_a_query_that_was_not_answered_is_given_back() -> None:
    budget = QueryBudget(1)
    _spend(budget, 1)
    budget.give_back("ada", "banking")
    assert budget.left("ada", "banking") == 1


def test_a_host_that_stops_in_order_goes_on_with_the_exact_count(tmp_path: Path) -> None:
    first = QueryBudget(100, StateFile(tmp_path))
    _spend(first, 37)
    first.close()
    second = QueryBudget(100, StateFile(tmp_path))
    assert second.left("ada", "banking") == 63
    second.close()


@pytest.mark.parametrize("limit", [5, 192, 10_000])
@pytest.mark.parametrize("spent", [1, 4])
def test_a_host_that_dies_has_never_counted_too_little(
    tmp_path: Path, limit: int, spent: int
) -> None:
    state = StateFile(tmp_path)
    budget = QueryBudget(limit, state)
    _spend(budget, spent)
    state.close()  # what the system does for a process that was killed
    again = QueryBudget(limit, StateFile(tmp_path))
    left = again.left("ada", "banking")
    assert left is not None
    assert limit - spent - 64 <= left <= limit - spent
    again.close()


def test_the_budget_refuses_across_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        budget = QueryBudget(3, StateFile(tmp_path))
        with pytest.raises(BudgetExhausted):
            _spend(budget, 4)
        budget.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"version": 2, "queries": {}}',
        b'{"version": 1, "queries": {"ada": 3}}',
        b'{"version": 1, "queries": {"ada": {"banking": -1}}}',
        b'{"version": 1, "queries": {"ada": {"banking": true}}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_count_stops_the_host_instead_of_being_forgotten(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "queries.json").write_bytes(content)
    with pytest.raises(HostStateUnusable, match=r"queries\.json"):
        QueryBudget(10, StateFile(tmp_path))


def test_two_hosts_do_not_share_a_folder(tmp_path: Path) -> None:
    first = StateFile(tmp_path)
    with pytest.raises(HostStateUnusable, match="another adapter host"):
        StateFile(tmp_path)
    first.close()
    StateFile(tmp_path).close()


def test_a_query_that_cannot_be_written_down_is_not_secured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StateFile(tmp_path)
    budget = QueryBudget(10, state)

    def full(_: object) -> None:
        raise HostStateUnusable(tmp_path, "no space left on device")

    monkeypatch.setattr(state, "write", full)
    with pytest.raises(HostStateUnusable):
        _spend(budget, 1)
    assert not (tmp_path / "queries.json").exists()
    monkeypatch.undo()
    budget.close()


def test_the_event_loop_goes_on_while_a_slow_disk_writes_and_no_write_is_overtaken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, gate = StateFile(tmp_path), threading.Event()
    budget, write = QueryBudget(10, state), state.write
    entered: list[int] = []

    def slow(counts: dict[str, dict[str, int]]) -> None:
        entered.append(threading.get_ident())
        assert gate.wait(20)
        write(counts)

    async def run() -> None:
        budget.spend("ada", "banking")
        first = asyncio.create_task(budget.secure("ada", "banking"))
        while not entered:  # noqa: ASYNC110 - the thread has no event of the loop's
            await asyncio.sleep(0)
        budget.spend("babbage", "banking")
        second = asyncio.create_task(budget.secure("babbage", "banking"))
        first.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not second.done()
        gate.set()
        await second

    monkeypatch.setattr(state, "write", slow)
    asyncio.run(run())
    assert threading.get_ident() not in entered
    state.close()
    again = StateFile(tmp_path)
    assert again.read() == {"ada": {"banking": 1}, "babbage": {"banking": 1}}
    again.close()


def test_nothing_is_written_once_another_host_may_have_the_folder(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    QueryBudget(10, state).close()
    with pytest.raises(HostStateUnusable, match="let go"):
        state.write({})


def test_the_files_new_name_is_on_disk_before_a_query_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it a loss of power brings the old count back."""
    synced: list[tuple[bool, bool]] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append((is_folder, (tmp_path / "queries.json").exists()))
        fsync(handle)

    budget = QueryBudget(10, StateFile(tmp_path))
    monkeypatch.setattr(os, "fsync", watched)
    _spend(budget, 1)
    assert synced == [(False, False), (True, True)]
    monkeypatch.undo()
    budget.close()


def test_the_file_holds_counts_by_principal_and_adapter(tmp_path: Path) -> None:
    budget = QueryBudget(0, StateFile(tmp_path))
    _spend(budget, 2)
    _spend(budget, 1, "babbage")
    budget.close()
    document = json.loads((tmp_path / "queries.json").read_text())
    assert document["queries"] == {"ada": {"banking": 2}, "babbage": {"banking": 1}}


@pytest.mark.parametrize(
    "content",
    [
        b'{"version": true, "queries": {}}',
        b'{"version": 1.0, "queries": {}}',
        b'{"version": 1, "queries": {"ada": {"banking": 9}}, "queries": {}}',
        b'{"version": 1, "queries": {"ada": {"banking": 9, "banking": 0}}}',
    ],
)
def test_what_a_host_never_writes_is_no_count(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "queries.json").write_bytes(content)
    with pytest.raises(HostStateUnusable, match=r"queries\.json"):
        QueryBudget(10, StateFile(tmp_path))


def test_a_count_that_is_no_regular_file_is_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "queries.json"
    with (
        pipe(path, b'{"version": 1, "queries": {}}'),
        pytest.raises(HostStateUnusable, match="not a regular file"),
    ):
        StateFile(tmp_path).read()
    path.unlink()
    # It has no end, and says that it has no bytes.
    path.symlink_to("/dev/zero")
    with pytest.raises(HostStateUnusable, match="not a regular file"):
        StateFile(tmp_path).read()


@pytest.mark.parametrize("name", ["queries.lock", "queries.new"])
def test_a_link_in_the_folder_empties_no_other_file(tmp_path: Path, name: str) -> None:
    thesis, folder = tmp_path / "thesis", tmp_path / "state"
    thesis.write_text("of three years")
    folder.mkdir()
    (folder / name).symlink_to(thesis)
    with suppress(HostStateUnusable):
        budget = QueryBudget(10, StateFile(folder))
        _spend(budget, 1)
        budget.close()
    assert thesis.read_text() == "of three years"
