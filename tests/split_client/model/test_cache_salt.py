"""The word that divides what a server without tokens keeps among its users."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_client.model.cache_salt import FILE, cache_salt


def test_with_a_token_there_is_none(tmp_path: Path) -> None:
    assert cache_salt("a token", tmp_path) is None
    assert not (tmp_path / FILE).exists()


def test_it_stays_the_same_and_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    first = cache_salt(None, tmp_path / "data")
    assert first is not None
    assert len(bytes.fromhex(first)) == 16
    assert cache_salt(None, tmp_path / "data") == first
    assert (tmp_path / "data" / FILE).stat().st_mode & 0o777 == 0o600
    assert cache_salt(None, tmp_path / "other") != first


@pytest.mark.parametrize("damage", [b"", b"xyz", b"00" * 15, b"00" * 17, b"\xff" * 32])
def test_a_damaged_one_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE).write_bytes(damage)
    words = {cache_salt(None, tmp_path) for _ in range(2)}
    assert len(words) == 1
    assert all(word is not None and len(bytes.fromhex(word)) == 16 for word in words)


def test_where_it_cannot_be_kept_it_is_another_one_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    words = {cache_salt(None, tmp_path / "file") for _ in range(2)}
    assert len(words) == 2
