"""What one process kept, the next one finds: whole, its own, and nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch

from split_server.kv.block_key import BlockNames
from split_server.kv_disk.errors import DiskUnusable
from tests.split_server.kv_disk.tiers import Place, digest, runs


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_was_kept_is_found_after_a_restart(place: Place) -> None:
    place.put("chat", 600)
    place.put("other", 40)
    place.start()
    assert (place.found("chat", 600), place.found("other", 40)) == (600, 40)
    assert place.tier.counts.files["read"] == 4


def test_a_shorter_prefix_of_what_was_kept_is_found(place: Place) -> None:
    place.put("chat", 600)
    place.start()
    names = place.names.of("alice")
    asked = [(at, names.name(at, digest("chat", at))) for at in range(288, 0, -16)]

    asyncio.run(place.tier.bring(asked))
    with place.pool.longest([name for _, name in asked]) as spans:
        assert spans[-1].end == 288
    assert place.tier.counts.files["read"] == 2


def test_nothing_is_read_for_what_memory_has(place: Place) -> None:
    place.put("chat", 600)
    assert place.found("chat", 600) == 600
    assert place.tier.counts.files["read"] == 0


def test_what_goes_on_in_memory_from_what_is_on_disk_needs_the_rest_alone(place: Place) -> None:
    place.put("chat", 600)
    place.start()
    assert place.found("chat", 512) == 512
    assert place.found("chat", 600) == 600
    assert place.tier.counts.files["read"] == 3


@pytest.mark.parametrize(("owner", "salt"), [("bob", ""), ("alice", "salt")])
def test_nobody_finds_what_another_one_kept(place: Place, owner: str, salt: str) -> None:
    place.put("chat", 600)
    place.start()
    assert place.found("chat", 600, owner, salt) == 0
    assert place.found("chat", 600) == 600


def test_another_model_finds_nothing_and_removes_nothing(place: Place) -> None:
    place.put("chat", 300)
    place.start("another model")
    assert place.found("chat", 300) == 0
    place.start()
    assert place.found("chat", 300) == 300


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_each_dtype_comes_back_bit_for_bit(place: Place, dtype: torch.dtype) -> None:
    made = runs(place.names.of("alice"), "t", 100, dtype)[0]
    assert place.pool.add(made)
    place.tier.published(1, made)
    place.clock.now += 3
    place.tier._beat()
    place.start()
    name = made.names[made.end]

    asyncio.run(place.tier.bring([(100, name)]))
    read = place.pool.find(name)
    assert read is not None
    assert read.digests == made.digests
    for one, other in zip(read.layers, made.layers, strict=True):
        assert one.dtype == dtype
        assert torch.equal(one, other)


def test_without_the_key_nothing_is_found_and_nothing_removed(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.put("chat", 600)
    for key in place.state.glob("*.key"):
        key.unlink()
    place.start()
    assert place.found("chat", 600) == 0
    assert len(place.files()) == 3
    assert "3 files of kept keys and values were written under another key" in caplog.text


def test_a_damaged_key_is_told_in_words(place: Place) -> None:
    next(place.state.glob("*.key")).write_bytes(b"short")
    with pytest.raises(DiskUnusable, match="not a key"):
        place.start()


def test_a_folder_that_cannot_be_one_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "kv").write_text("a file")
    with pytest.raises(DiskUnusable, match="--kv-disk"):
        Place(tmp_path)


def test_what_shall_stay_in_memory_is_never_written(place: Place) -> None:
    first, second = runs(place.names.of("alice"), "t", 300)
    second.to_disk = False
    for run in (first, second):
        place.pool.add(run)
        place.tier.published(1, run)
    place.clock.now += 3
    place.tier._beat()
    assert [path.name for path in place.files()] == [f"{first.names[256].hex()}.kv"]


def test_runs_wait_until_their_session_is_idle(place: Place) -> None:
    first, second = runs(place.names.of("alice"), "t", 300)
    place.pool.add(first)
    place.tier.published(1, first)
    place.clock.now += 1.5
    place.tier.used(1)
    place.clock.now += 1.5
    place.tier._beat()
    assert not place.files()
    place.pool.add(second)
    place.tier.published(1, second)
    place.tier.ended(1)
    place.tier._beat()
    assert len(place.files()) == 2


def test_a_run_that_memory_gave_up_is_not_written(place: Place) -> None:
    run = runs(place.names.of("alice"), "t", 200)[0]
    place.pool.add(run)
    place.tier.published(1, run)
    place.pool.release(run.size)
    place.clock.now += 3
    place.tier._beat()
    assert not place.files()


def test_files_tell_no_text_and_no_unkeyed_digest(place: Place) -> None:
    made = place.put("chat", 600)
    found = [path.read_bytes() for path in place.files()]
    assert len(found) == 3
    for run in made:
        for data in found:
            for at in range(0, len(run.digests), 16):
                assert run.digests[at : at + 16] not in data
            assert run.layers[0].numpy().tobytes()[:64] not in data


def test_key_salts_and_files_are_for_their_owner_alone(place: Place) -> None:
    place.put("chat", 40)
    for path in [*place.state.iterdir(), *place.folder.iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path.name


def test_members_of_a_group_find_each_others_files_and_delete_their_own(place: Place) -> None:
    def names(owner: str) -> BlockNames:
        assert place.names.of(owner)
        return place.names.of_group(owner, "us", {"alice", "bob"})

    def put(owner: str) -> None:
        # A new pool has nothing of the other one's, so that each writes what it computed.
        for run in runs(names(owner), "prompt", 32 if owner == "alice" else 48):
            assert place.pool.add(run)
            place.tier.published(1, run)
        asyncio.run(place.tier.flush())
        place.start()

    def found(owner: str, end: int) -> bool:
        name = names(owner).name(end, digest("prompt", end))
        asyncio.run(place.tier.bring([(end, name)]))
        return place.pool.knows(name)

    put("alice")
    assert found("bob", 32)
    place.start()
    put("bob")
    written = [names("bob").name(at, digest("prompt", at)) for at in (16, 32, 48)]

    assert place.tier.remove(written, "alice") == 1
    place.settle()
    assert (len(place.files()), found("alice", 48)) == (1, True)

    place.start()
    place.tier.forget(lambda owner: owner == "bob")
    place.settle()
    assert (len(place.files()), found("alice", 48)) == (0, False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_whole_numbers_come_back_bit_for_bit_in_their_own_tier_alone(
    place: Place, dtype: torch.dtype
) -> None:
    exact, names = place.names.of("alice"), place.names.of("alice").in_tier("int8")
    made = runs(names, "t", 300, dtype)
    for run in made:
        assert place.pool.add(run)
        place.tier.published(1, run)
    asyncio.run(place.tier.flush())
    place.start()
    ends = [300, *range(288, 0, -16)]
    asyncio.run(place.tier.bring([(at, exact.name(at, digest("t", at))) for at in ends]))
    assert len(place.pool) == 0
    asked = [(at, names.name(at, digest("t", at))) for at in ends]
    asyncio.run(place.tier.bring(asked))
    with place.pool.longest([name for _, name in asked]) as spans:
        assert [(span.run.tier, span.run.dtype) for span in spans] == [("int8", dtype)] * 2
        for span, right in zip(spans, made, strict=True):
            mine, theirs = [*span.run.layers, *span.run.scales], [*right.layers, *right.scales]
            assert all(map(torch.equal, mine, theirs))
            assert span.run.size == right.size


def test_the_tier_of_a_file_is_sealed_with_it(place: Place) -> None:
    place.put("chat", 256)
    (path,) = place.files()
    whole = path.read_bytes()
    for at, value in ((12, 1), (13, 1), (14, 1), (12, 9), (13, 9)):
        path.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
        place.start()
        assert place.found("chat", 256) == 0
        # It is not what was sealed, and it is gone.
        assert not path.exists()


def test_a_run_on_disk_that_is_better_than_what_it_follows_is_a_miss(place: Place) -> None:
    exact = place.names.of("alice")
    made = runs(exact, "chat", 512)
    for run in made:
        assert place.pool.add(run)
        place.tier.published(1, run)
    asyncio.run(place.tier.flush())
    place.start()
    # The same block in memory, of a worse tier, as a fault elsewhere might leave it.
    worse = runs(exact, "chat", 256)
    worse[0].tier = "int8"
    assert place.pool.add(worse[0])
    assert place.found("chat", 512) == 256
