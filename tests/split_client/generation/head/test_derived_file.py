from pathlib import Path

import pytest

from split_client.generation.head.derived_file import (
    PAGE,
    damage,
    file_digest,
    paged,
    replacing,
    seal,
)
from tests.pipes import pipe

HEADER = b"KIND0001" + bytes(range(40))
SIZE = PAGE + 1000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with replacing(tmp_path / "derived") as file:
        file.truncate(SIZE)
        file.seek(PAGE)
        file.write(b"\x05" * 1000)
        seal(file, HEADER)
    return tmp_path / "derived"


def test_a_sealed_file_is_whole(path: Path) -> None:
    assert damage(path, HEADER, SIZE) is None
    assert [entry.name for entry in path.parent.iterdir()] == ["derived"]


def test_another_kind_another_size_and_a_flipped_bit_are_told_apart(path: Path) -> None:
    assert "header" in str(damage(path, b"KIND0002" + HEADER[8:], SIZE))
    assert "size" in str(damage(path, HEADER, SIZE + 1))
    whole = bytearray(path.read_bytes())
    for offset in (len(HEADER), len(HEADER) + 31, PAGE, SIZE - 1):
        torn = bytearray(whole)
        torn[offset] ^= 1
        path.write_bytes(torn)
        assert "checksum" in str(damage(path, HEADER, SIZE))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "none cannot be read" in str(damage(tmp_path / "none", HEADER, SIZE))


def test_a_pipe_in_its_place_is_named_and_not_waited_for(path: Path) -> None:
    with pipe(path, path.read_bytes()):
        assert damage(path, HEADER, SIZE) == "derived cannot be read (it is not a regular file)"


def test_what_fails_in_between_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    before = path.read_bytes()

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["derived"]


def test_sizes_round_up_to_pages_and_digests_are_sha256(tmp_path: Path) -> None:
    assert [paged(size) for size in (0, 1, PAGE, PAGE + 1)] == [0, PAGE, PAGE, 2 * PAGE]
    (tmp_path / "w").write_bytes(b"abc")
    assert file_digest(tmp_path / "w").hex().startswith("ba7816bf8f01cfea")
