"""The ledger across processes, restarts and damage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from split_client.noise.errors import BudgetExhausted, LedgerBusy, LedgerDamaged, LedgerFailed
from split_client.noise.floor import Floor, Floors
from split_client.noise.ledger import Ledger
from split_client.noise.releases import Releases
from split_client.noise.spent import Budget, Count, Kind, Spent
from split_privacy.gaussian import epsilon_of
from tests.pipes import pipe

KIND = Kind(4.8448, 2.0, 896)
BUDGET = Budget(10.0, 1e-5)
FITTING = 23


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.json"


def charge(path: Path, rows: int, budget: Budget | None = None, model: str = "m") -> int:
    return Ledger(path).charge("me", model, KIND, Count(rows, 1), budget=budget)


def test_both_units_are_counted_exactly(path: Path) -> None:
    charge(path, 500)
    spent = Ledger(path).spent("me")
    assert (spent.rows, spent.sendings) == (500, 1)
    assert spent.epsilon(1e-5) == pytest.approx(81.15, abs=0.005)
    assert spent.token_epsilon(1e-5) == pytest.approx(epsilon_of(1e-5, 2 / 4.8448), abs=1e-6)


def test_releases_of_different_noise_add_their_squared_mu(path: Path) -> None:
    charge(path, 10)
    Ledger(path).charge("me", "other", Kind(1.0, 1.5, 64), Count(3, 1))
    mu = (10 * (2 / 4.8448) ** 2 + 3 * 1.5**2) ** 0.5
    assert Ledger(path).spent("me").epsilon(1e-5) == pytest.approx(epsilon_of(1e-5, mu), abs=1e-6)
    assert Ledger(path).spent_on("me", "other").rows == 3
    assert Ledger(path).spent("somebody else") == Spent()


def test_the_room_of_a_budget_is_what_dp_accounting_allows() -> None:
    def epsilon(rows: int) -> float:
        mechanism = pld.from_gaussian_mechanism(
            4.8448 / 2 / rows**0.5, value_discretization_interval=1e-3
        )
        return float(mechanism.get_epsilon_for_delta(1e-5))

    assert BUDGET.room(Spent(), KIND, 1000) == FITTING
    assert BUDGET.room(Spent(), KIND, 5) == 5
    assert epsilon(FITTING) <= 10.0 < epsilon(FITTING + 1)


def test_a_budget_holds_across_restarts_and_models_and_says_what_remains(path: Path) -> None:
    charge(path, 20, BUDGET)
    with pytest.raises(BudgetExhausted) as caught:
        charge(path, 4, BUDGET, model="another")
    error = caught.value
    assert (error.rows, error.room) == (4, 3)
    assert error.spent == pytest.approx(epsilon_of(1e-5, 2 / 4.8448 * 20**0.5), abs=1e-6)
    assert "10" in str(error)
    assert f"{error.spent:.2f}" in str(error)
    assert f"{error.remaining:.2f}" in str(error)
    assert Ledger(path).spent("me").rows == 20
    charge(path, 3, BUDGET, model="another")
    with pytest.raises(BudgetExhausted):
        charge(path, 1, BUDGET)


def test_what_is_recorded_ahead_stays_within_the_budget_and_is_given_back(path: Path) -> None:
    ledger = Ledger(path)
    ahead = ledger.charge("me", "m", KIND, Count(5, 1), ahead=64, budget=BUDGET)
    assert ahead == FITTING - 5
    assert ledger.spent("me").rows == FITTING
    ledger.give_back("me", "m", KIND, ahead)
    assert ledger.spent("me").rows == 5
    with pytest.raises(LedgerDamaged):
        ledger.give_back("me", "m", KIND, 6)


def test_the_file_is_its_owners_alone(path: Path) -> None:
    charge(path, 1)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in sorted(path.parent.iterdir())] == ["ledger.json", "ledger.json.lock"]


def changed(path: Path, change: object) -> bytes:
    document = json.loads(path.read_bytes())
    document.update(change)
    return json.dumps(document).encode()


def test_a_damaged_file_stops_releases_and_stays_as_it_is(path: Path) -> None:
    charge(path, 7)
    whole = path.read_bytes()
    running = Ledger(path)
    damages = [
        b"", whole[:-20], b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000, b" " * (17 << 20),
        whole.replace(b'"rows": 7', b'"rows": 1'),
        changed(path, {"version": 3}), changed(path, {"version": True}),
        changed(path, {"serial": 9}),
        changed(path, {"format": "x"}),
        changed(path, {"spent": {}}), changed(path, {"spent": None}),
    ]  # fmt: skip
    for damage in damages:
        path.write_bytes(damage)
        with pytest.raises(LedgerDamaged):
            Ledger(path)
        with pytest.raises(LedgerDamaged):
            running.charge("me", "m", KIND, Count(1, 1))
        assert path.read_bytes() == damage
    path.write_bytes(whole)
    assert Ledger(path).spent("me").rows == 7


def test_entries_that_cannot_be_are_damage_whatever_their_checksum(path: Path) -> None:
    from split_client.noise.ledger_file import _digest

    good = {"sigma": 1.0, "distance": 1.0, "width": 4, "rows": 1, "sendings": 1}
    for name, value in [
        ("sigma", 0.0), ("sigma", float("inf")), ("distance", -1.0), ("width", 0), ("rows", -5),
        ("rows", True), ("rows", 1.5), ("rows", 1 << 60), ("sendings", None),
    ]:  # fmt: skip
        spent = {"me": {"m": [good | {name: value}]}}
        document = {"format": "gatelink.noise-ledger", "version": 1, "spent": spent}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document | {"sha256": _digest(spent)}))
        with pytest.raises(LedgerDamaged):
            Ledger(path)


def test_a_file_that_disappears_under_a_client_is_not_a_new_beginning(path: Path) -> None:
    charge(path, 7)
    running = Ledger(path)
    path.unlink()
    with pytest.raises(LedgerDamaged, match="disappeared"):
        running.charge("me", "m", KIND, Count(1, 1))


def test_a_place_that_cannot_be_written_stops_releases(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerFailed):
        charge(tmp_path / "file" / "ledger.json", 1)
    with pytest.raises(LedgerFailed):
        Ledger(tmp_path)


def test_another_process_that_holds_the_lock_is_waited_for_and_told(path: Path) -> None:
    charge(path, 1)
    now = 0.0

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds

    with Ledger(path)._locked():
        waiting = Ledger(path, clock=lambda: now, pause=pause)
        with pytest.raises(LedgerBusy):
            waiting.charge("me", "m", KIND, Count(1, 1))
    assert now >= 10.0
    waiting.charge("me", "m", KIND, Count(1, 1))


_CHARGES = """
import sys
from pathlib import Path
from split_client.noise.floor import Floor, Floors
from split_client.noise.ledger import Ledger
from split_client.noise.releases import Releases
from split_client.noise.spent import Count, Kind
ledger = Ledger(Path(sys.argv[1]))
for _ in range(25):
    ledger.charge("me", sys.argv[2], Kind(4.8448, 2.0, 896), Count(2, 1))
"""


def test_two_processes_at_once_lose_no_charge(path: Path) -> None:
    arguments = [sys.executable, "-c", _CHARGES, str(path)]
    processes = [subprocess.Popen([*arguments, model], env=os.environ) for model in "ab"]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert Ledger(path).spent("me").rows == 100
    assert Ledger(path).spent_on("me", "a").sendings == 25


def test_a_pipe_in_place_of_the_ledger_is_refused_and_not_waited_for(path: Path) -> None:
    charge(path, 1)
    content = path.read_bytes()
    with pipe(path, content), pytest.raises(LedgerFailed, match="not a regular file"):
        Ledger(path).spent("me")


def test_a_pipe_in_place_of_the_lock_is_refused_and_not_waited_for(path: Path) -> None:
    charge(path, 1)
    lock = path.with_name("ledger.json.lock")
    lock.unlink()
    os.mkfifo(lock)
    # A writer is let go by a reader, so that a failing test ends.
    reading = os.open(lock, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(LedgerFailed, match="not a regular file"):
            charge(path, 1)
    finally:
        os.close(reading)


def test_a_link_in_place_of_a_floor_leads_to_nothing_that_is_written_over(tmp_path: Path) -> None:
    floors = Floors({"SPLIT_DATA": str(tmp_path)})
    floors.raise_to("a", Floor(1, "0" * 64))
    letter = tmp_path / "letter"
    letter.write_text("dear somebody, " * 20)
    (tmp_path / "noise-floors" / "a.floor").unlink()
    (tmp_path / "noise-floors" / "a.floor").symlink_to(letter)
    floors.raise_to("a", Floor(2, "0" * 64))
    assert letter.read_text() == "dear somebody, " * 20


def test_a_pipe_in_place_of_releases_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    Releases(tmp_path, b"k" * 32, "me").keep()
    [file] = tmp_path.iterdir()
    with pipe(file, b"x" * 16), pytest.raises(LedgerFailed, match="not a regular file"):
        Releases(tmp_path, b"k" * 32, "me").keep()
