from __future__ import annotations

from pathlib import Path

import pytest

from split_client.errors import ClientError
from split_client.terminal.commands.files import MAX_BYTES, MOST_FILES, Files
from split_client.terminal.errors import AttachmentRefused, InputNotText
from split_client.terminal.paths import completed
from tests.pipes import pipe
from tests.split_client.terminal.consoles import RecordingScreen


@pytest.fixture
def files() -> Files:
    return Files(RecordingScreen())


def noted(files: Files) -> str:
    assert isinstance(files.screen, RecordingScreen)
    return files.screen.noted


def test_files_go_with_one_message(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("one\n")
    (tmp_path / "c.md").write_bytes(b"\xef\xbb\xbf````py\nx\n````\n")
    files.attach(f'"{tmp_path}/a b.txt"')
    files.attach(str(tmp_path / "c.md"))
    assert "2 files go with your next message: a b.txt (4 B), c.md" in noted(files)
    assert files.with_message("Read:") == (
        "Read:\n\na b.txt:\n```\none\n```\n\nc.md:\n`````\n````py\nx\n````\n`````"
    )
    assert files.with_message("again") == "again"


def test_files_can_be_left_out_again(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    files.attach(str(tmp_path / "a"))
    files.attach("none")
    files.attach("")
    assert noted(files).count("no file goes with your next message; /file PATH adds one") == 2
    assert files.with_message("x") == "x"


def refused(files: Files, path: Path) -> ClientError:
    with pytest.raises((AttachmentRefused, InputNotText)) as caught:
        files.attach(str(path))
    return caught.value


def test_what_is_no_bounded_regular_text_file_is_refused(files: Files, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (MAX_BYTES + 1))
    (tmp_path / "binary").write_bytes(b"ab\x80")
    assert "1048576" in str(refused(files, tmp_path / "large"))
    assert "not UTF-8 text (byte 2)" in str(refused(files, tmp_path / "binary"))
    assert "No such file" in str(refused(files, tmp_path / "missing"))
    assert refused(files, tmp_path).code == "attachment_refused"
    with pipe(tmp_path / "pipe", b"x"):
        assert refused(files, tmp_path / "pipe").code == "attachment_refused"
    assert files.waiting == []


def test_few_files_go_with_one_message(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    for _ in range(MOST_FILES):
        files.attach(str(tmp_path / "a"))
    assert "8 files" in str(refused(files, tmp_path / "a"))


def test_paths_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("file.txt", ".hidden", "other", "fi\x1bx"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    assert completed("f") == ["file.txt", "folder/"]
    assert completed("./.h") == ["./.hidden"]
    assert completed(f"{tmp_path}/") == [
        f"{tmp_path}/{n}" for n in ("file.txt", "folder/", "other")
    ]
    assert completed("nowhere/x") == completed("~nobody-of-that-name/") == []


def test_files_are_taken_apart_where_they_come_before_the_message(
    files: Files, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("x\n")
    files.attach(str(tmp_path / "a"))
    assert files.taken() == ["a:\n```\nx\n```"]
    assert files.taken() == []
