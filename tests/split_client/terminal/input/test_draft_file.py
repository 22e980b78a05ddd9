from __future__ import annotations

from pathlib import Path

import pytest

from split_client.errors import ClientError
from split_client.terminal.input.draft_file import MAX_BYTES, draft_text


def test_the_text_of_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffa ü\n".encode())
    assert draft_text(file) == "a ü\n"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfe\x00", "input_not_text"),
        (b"a\x00b", "input_not_text"),
        (b" \n", "draft_file_invalid"),
        (b"x" * (MAX_BYTES + 1), "draft_file_invalid"),
        (None, "draft_file_invalid"),
    ],
)
def test_what_is_no_text_is_refused_by_name(tmp_path: Path, data: bytes | None, code: str) -> None:
    file = tmp_path / "draft"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(ClientError) as refused:
        draft_text(file)
    assert refused.value.code == code
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ClientError) as refused:
        draft_text(tmp_path)
    assert refused.value.code == "draft_file_invalid"
