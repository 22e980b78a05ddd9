"""Who is revoked or purges leaves no file, no salt, and nothing that opens a copy."""

from __future__ import annotations

import asyncio
import errno
import shutil
from pathlib import Path

import pytest

from split_server.kv.run import Run
from split_server.kv_disk import salts as salts_module
from split_server.kv_disk.index import Entry
from split_server.kv_disk.salts import SaltFile
from tests.split_server.kv_disk.tiers import Place, digest, runs


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_revoked_principal_loses_files_and_salt_and_nobody_else_does(place: Place) -> None:
    place.put("chat", 600)
    place.put("his", 300, "bob")
    place.tier.forget(lambda name: name == "alice")
    place.settle()
    assert len(place.files()) == 2
    assert "alice" not in next(place.state.glob("*.salts")).read_text()
    place.start()
    assert (place.found("chat", 600), place.found("his", 300, "bob")) == (0, 300)


def test_a_copy_made_before_opens_with_nothing_that_is_left(place: Place) -> None:
    place.put("chat", 600)
    copy = place.root / "copy"
    shutil.copytree(place.folder, copy)
    place.tier.forget(lambda name: name == "alice")
    place.settle()
    shutil.rmtree(place.folder)
    shutil.copytree(copy, place.folder)
    place.start()
    # The name is known again, with another salt.
    assert place.found("chat", 600) == 0
    # What lies there has no owner, and a start removes it.
    assert not place.files()
    assert place.tier.counts.failed["unowned"] == 3


def test_the_same_name_later_has_another_salt(place: Place) -> None:
    before = place.tier.salts.of("alice")
    place.tier.forget(lambda name: name == "alice")
    after = place.tier.salts.of("alice")
    place.settle()
    assert before != after
    place.start()
    assert place.tier.salts.of("alice") == after


def test_who_was_revoked_while_no_server_ran_is_erased_at_the_start(place: Place) -> None:
    place.put("chat", 600)
    place.tier.close()
    place.start()
    place.tier.forget(lambda name: name == "alice")
    place.settle()
    assert not place.files()


def test_a_write_under_way_of_who_is_revoked_does_not_stay(place: Place) -> None:
    run = runs(place.names.of("alice"), "t", 200)[0]
    place.pool.add(run)
    sealed = place.tier._writer._sealed(run.names[200])
    assert sealed is not None
    place.tier.forget(lambda _: True)
    assert not place.tier.index.add(Entry("x.kv", 1, 0.0, sealed[0]), written=True)


def test_removed_blocks_take_their_files_along_and_what_is_being_written(place: Place) -> None:
    made = place.put("chat", 600)
    assert place.tier.remove([made[2].names[600]]) == 1
    place.settle()
    assert len(place.files()) == 2
    run = runs(place.names.of("alice"), "t", 200)[0]
    place.pool.add(run)
    sealed = place.tier._writer._sealed(run.names[200])
    assert sealed is not None
    place.tier.remove(run.names.values())
    assert not place.tier.index.add(Entry("x.kv", 1, 0.0, sealed[0]), written=True)


def test_a_purge_takes_one_salt_or_all_and_tells_how_much(place: Place) -> None:
    place.put("chat", 600)
    place.put("salted", 300, salt="s")
    place.put("his", 100, "bob")
    sizes = {path: path.stat().st_size for path in place.files()}
    assert place.tier.figures("alice")["files"] == 5
    files, taken = place.tier.purge("alice", place.names.of("alice", "s").space)
    place.settle()
    assert files == 2
    assert taken == sum(sizes.values()) - sum(path.stat().st_size for path in place.files())
    assert place.tier.purge("alice")[0] == 3
    place.settle()
    assert len(place.files()) == 1
    assert place.tier.purge("nobody") == (0, 0)


def test_a_purge_takes_what_another_model_of_the_folder_wrote_meanwhile(tmp_path: Path) -> None:
    """One that was let go, for example, so that nobody else would take it."""
    place = Place(tmp_path)
    other = Place(tmp_path).start("another model")
    other.put("chat", 600)
    other.put("his", 100, "bob")
    place.put("mine", 100)
    size = sum(path.stat().st_size for path in place.files())
    files, taken = place.tier.purge("alice")
    # They are gone as it returns, and count once.
    left = place.files()
    assert (files, taken) == (4, size - sum(path.stat().st_size for path in left))
    assert len(left) == 1
    assert other.tier.purge("alice") == (0, 0)


def test_salts_that_cannot_be_stored_stay_in_memory_and_nothing_of_theirs_is_written(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("split_server.kv_disk.salts.write_whole", refuse)
    place.put("chat", 100)
    assert place.found("chat", 100) == 100
    assert not place.files()
    assert "stay in memory" in caplog.text


def test_two_servers_draw_one_salt(place: Place) -> None:
    other = SaltFile(next(place.state.glob("*.key")).with_suffix(".salts"), place.tier._writer._key)
    assert place.tier.salts.of("carol") == other.of("carol")


def test_a_forgotten_salt_does_not_come_back_after_the_disk_was_full_meanwhile(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    salts = place.tier.salts
    before = salts.draw("alice").tag
    salts.forget(lambda name: name == "alice")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(salts_module, "write_whole", full)
        assert salts.draw("alice").tag != before
        assert not salts.stored("alice")
    assert salts.draw("alice").tag != before
    assert salts.stored("alice")
    assert before.hex() not in next(place.state.glob("*.salts")).read_text()
    salts.erase()
    salts.reload()
    assert salts.stored("alice")


def branched(place: Place) -> None:
    """On disk: ``chat``, and ``branch``, which goes on from its first 96 positions."""
    names = place.names.of("alice")
    trunk = place.put("chat", 300)
    branch = runs(names, "branch", 256)[0]
    digests = branch.digests[16 * 96 :]
    layers = [layer[:, :, 96:].contiguous() for layer in branch.layers]
    named = {at: name for at, name in branch.names.items() if at > 96}
    run = Run("alice", 96, 256, digests, named, layers, trunk[0], space=names.space)
    assert place.pool.add(run)
    place.tier.published(1, run)
    asyncio.run(place.tier.flush())


def ends(place: Place, text: str, end: int) -> int:
    """Positions that are found of ``text``."""
    names = place.names.of("alice")
    asked = [(at, names.name(at, digest(text, at))) for at in range(end, 0, -16)]
    asyncio.run(place.tier.bring(asked))
    with place.pool.longest([name for _, name in asked]) as spans:
        return spans[-1].end if spans else 0


def test_what_others_go_on_from_stays_when_a_chat_is_cut_on_disk(place: Place) -> None:
    branched(place)
    place.start()
    names = place.names.of("alice")
    cut = [names.name(at, digest("chat", at)) for at in [*range(16, 300, 16), 300]]
    place.tier.cut(cut, "alice")
    place.settle()
    assert len(place.files()) == 2
    place.start()
    assert ends(place, "branch", 256) == 256
    assert ends(place, "chat", 288) == 96


def test_what_is_removed_takes_along_all_that_follows(place: Place) -> None:
    branched(place)
    names = place.names.of("alice")
    assert place.tier.remove([names.name(16, digest("chat", 16))]) == 3
    place.settle()
    assert not place.files()
