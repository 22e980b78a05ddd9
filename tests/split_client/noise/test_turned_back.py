"""A ledger that is turned back, doubled or taken apart counts every row or refuses by name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from split_client.noise import device as devices
from split_client.noise.errors import LedgerBusy, LedgerDamaged, LedgerFailed, LedgerTurnedBack
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Count
from tests.split_client.noise.clients import KIND, Client
from tests.split_client.noise.tables import MODEL

_ROOT = Path(__file__).parents[3]
KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def own_floors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))


def counted(path: Path, identity: str = "me") -> int:
    return Ledger(path).spent(identity).rows


def test_an_older_copy_under_a_running_client_stops_it_before_the_next_row(tmp_path: Path) -> None:
    path, older = tmp_path / "ledger.json", tmp_path / "older.json"
    client = Client(path)
    client.say(13)
    shutil.copy(path, older)
    client.reply(10)
    shutil.copy(older, path)
    with pytest.raises(LedgerTurnedBack) as caught:
        client.reply(50)
    assert caught.value.code == "ledger_turned_back"
    assert client.sent == 23
    with pytest.raises(LedgerTurnedBack):
        client.say(3)
    assert path.read_bytes() == older.read_bytes()


def test_an_older_copy_between_two_runs_is_refused_by_the_next(tmp_path: Path) -> None:
    path, older = tmp_path / "ledger.json", tmp_path / "older.json"
    Client(path).say(5)
    shutil.copy(path, older)
    Client(path).say(50)
    newest = path.read_bytes()
    shutil.copy(older, path)
    with pytest.raises(LedgerTurnedBack):
        Ledger(path)
    path.write_bytes(newest)
    assert counted(path) == 55
    moved = tmp_path / "elsewhere" / "ledger.json"
    moved.parent.mkdir()
    shutil.copy(older, moved)
    with pytest.raises(LedgerTurnedBack):
        Ledger(moved)


def test_a_file_that_counts_on_beside_the_one_that_was_seen_is_refused(tmp_path: Path) -> None:
    """As many changes as were seen, but others."""
    path, older = tmp_path / "ledger.json", tmp_path / "older.json"
    client = Client(path)
    client.say(5)
    shutil.copy(path, older)
    client.say(40)
    # What a device without this one's floors makes of the older copy.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLIT_DATA", str(tmp_path / "another device"))
        Ledger(older).charge("me", MODEL, KIND, Count(1, 1))
    shutil.copy(older, path)
    with pytest.raises(LedgerTurnedBack):
        client.say(1)


def test_a_ledger_that_was_moved_away_is_a_new_beginning(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Client(path).say(5)
    path.unlink()
    Client(path).say(3)
    assert counted(path) == 3


def test_floors_that_are_lost_or_damaged_stop_nobody(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Client(path).say(5)
    floors = list((tmp_path / "data").rglob("*.floor"))
    assert len(floors) == 1
    assert floors[0].stat().st_mode & 0o777 == 0o600
    for damage in (b"", b"\xff" * 100, b"x" * 100_000):
        floors[0].write_bytes(damage)
        Client(path).say(5)
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "data").write_text("no folder")
    assert counted(path) == 20


def forking(trial: str, path: Path) -> list[int]:
    """What the program with the forks prints; it is a process of one thread."""
    places = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.split_client.noise.forks", trial, str(path)],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [int(number) for number in done.stdout.split()]


def test_a_fork_with_rows_ahead_counts_those_of_both(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    assert forking("ahead", path) == [76, 63]
    assert counted(path) == 76 + 63
    assert Ledger(path).spent("me").sendings == 2


def test_thirty_kills_leave_at_least_what_was_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    (told,) = forking("kills", path)
    assert told >= 30
    assert told <= counted(path) <= told + 30


_CHARGES = """
import sys
from pathlib import Path
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Count, Kind
ledger = Ledger(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    ledger.charge("me", "m", Kind(4.8448, 2.0, 896), Count(1, 1))
    print("charged", flush=True)
"""


def test_a_lock_that_is_removed_while_four_processes_run_loses_no_row(tmp_path: Path) -> None:
    path, told = tmp_path / "ledger.json", 0
    Client(path).say(2)
    read, write = os.pipe()
    command = [sys.executable, "-c", _CHARGES, str(path), "25"]
    processes = [subprocess.Popen(command, stdout=write) for _ in range(4)]
    os.close(write)
    with os.fdopen(read) as source:
        for _ in source:
            told += 1
            path.with_name("ledger.json.lock").unlink(missing_ok=True)
    assert [process.wait(60) for process in processes] == [0] * 4
    assert told == 100
    assert counted(path) == 2 + told


def test_a_lock_that_was_replaced_while_it_was_waited_for_is_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Ledger(path).charge("me", "m", KIND, Count(1, 1))
    lock = path.with_name("ledger.json.lock")
    with Ledger(path)._locked():
        lock.unlink()
        other = Ledger(
            path, clock=iter([0.0, 0.0, 11.0, 22.0, 33.0]).__next__, pause=lambda _: None
        )
        with pytest.raises(LedgerBusy):
            other.charge("me", "m", KIND, Count(1, 1))
    Ledger(path).charge("me", "m", KIND, Count(1, 1))
    assert counted(path) == 2


def test_a_ledger_by_two_names_is_one_ledger_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "state" / "ledger.json", tmp_path / "link.json"
    path.parent.mkdir()
    link.symlink_to(path)
    Client(path).say(10)
    Client(link).say(10)
    Client(path).say(10)
    assert link.is_symlink()
    assert counted(path) == counted(link) == 30


def test_a_second_name_that_the_next_write_would_leave_behind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Client(path).say(10)
    os.link(path, tmp_path / "second.json")
    with pytest.raises(LedgerFailed, match="hard link"):
        Ledger(path)


def test_a_kept_key_under_a_second_identity_counts_there_too(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    for identity in ("me", "you", "me"):
        client = Client(path, identity, KEY)
        client.say(40)
        client.account.close()
    assert counted(path, "me") == 40
    assert counted(path, "you") == 40


def test_a_ledger_that_another_device_wrote_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.json"
    monkeypatch.setattr(devices, "device_id", lambda: "aa" * 16)
    Client(path).say(5)
    assert not Ledger(path).elsewhere
    monkeypatch.setattr(devices, "device_id", lambda: "bb" * 16)
    there = Client(path)
    there.say(5)
    assert there.ledger.elsewhere
    monkeypatch.setattr(devices, "device_id", lambda: None)
    assert Ledger(path).elsewhere
    assert counted(path) == 10


def test_a_ledger_of_the_version_before_is_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Ledger(path).charge("me", MODEL, KIND, Count(4, 1))
    spent = json.loads(path.read_bytes())["spent"]
    from hashlib import sha256

    digest = sha256(json.dumps(spent, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    old = {"format": "gatelink.noise-ledger", "version": 1, "spent": spent, "sha256": digest}
    second = tmp_path / "old.json"
    second.write_text(json.dumps(old))
    Ledger(second).charge("me", MODEL, KIND, Count(2, 0))
    assert counted(second) == 6
    assert json.loads(second.read_bytes())["version"] == 2
    second.write_text(json.dumps(old))
    with pytest.raises(LedgerDamaged):
        Ledger(second)
