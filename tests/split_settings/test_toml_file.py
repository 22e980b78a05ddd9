from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_settings import (
    BadValue,
    MalformedFile,
    UnknownKey,
    UnreadableFile,
    find_config,
    read_config,
)
from split_settings.toml_file import _parse


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_flag_beats_the_variable() -> None:
    assert find_config("a.toml", {"SPLIT_CONFIG": "b.toml"}) == Path("a.toml")
    assert find_config(None, {"SPLIT_CONFIG": "b.toml"}) == Path("b.toml")


def test_the_users_own_file_is_read_only_if_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_config(None, {}) is None
    path = _file(tmp_path, "")
    monkeypatch.setattr("split_settings.toml_file.default_config_path", lambda: path)
    assert find_config(None, {}) == path


def test_tables_of_all_programs_are_returned(tmp_path: Path) -> None:
    path = _file(tmp_path, "[server]\nport = 1\n[relay]\nopen = true\n")
    assert read_config(path) == {"server": {"port": 1}, "relay": {"open": True}}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="No such file") as caught:
        read_config(tmp_path / "none.toml")
    assert caught.value.code == "unreadable_file"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="directory"):
        read_config(tmp_path)


def test_an_account_that_does_not_exist_is_reported() -> None:
    with pytest.raises(UnreadableFile, match="no such account"):
        find_config("~no-such-account-here/c.toml", {})


def test_an_oversize_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="larger than"):
        read_config(_file(tmp_path, "#" * ((1 << 20) + 1)))


@pytest.mark.parametrize(
    "data", [b"[server\n", b"\xff\xfe", b"x = " + b"9" * 5000, b"x = " + b"[" * 100_000]
)
def test_bytes_that_are_not_toml_are_malformed(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(MalformedFile) as caught:
        read_config(_file(tmp_path, data))
    assert "config.toml is not valid TOML" in str(caught.value)


def test_a_table_of_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownKey, match="unknown setting sever; did you mean server"):
        read_config(_file(tmp_path, "[sever]\n"))


def test_a_program_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match=r"expected a table, written \[relay\]"):
        read_config(_file(tmp_path, "relay = 1\n"))


@given(st.binary(max_size=200))
def test_random_bytes_are_toml_or_malformed(data: bytes) -> None:
    tables: object = {}
    with contextlib.suppress(MalformedFile):
        tables = _parse(Path("x.toml"), data)
    assert isinstance(tables, dict)
