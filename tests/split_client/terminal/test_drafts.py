"""Drafts as the commands take them: what cannot be is said in one line, with its status."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_client.cli import main


def status(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["generate", "Hello", "--url", "http://127.0.0.1:1", *arguments])
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return code, err


@pytest.mark.parametrize("drafts", ["32", "0", "-1", "often", "1.5", "٣"])
def test_a_number_that_is_none_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], drafts: str
) -> None:
    code, err = status(capsys, f"--drafts={drafts}")
    assert code == 2
    assert "--drafts: expected auto, off, or a whole number in 1..31" in err


def test_noise_goes_without_drafts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    noise = ("--noise-sigma", "0.1", "--noise-ledger", str(tmp_path / "ledger"))
    for more in (("--drafts", "4"), ("--draft-file", str(_file(tmp_path)))):
        code, err = status(capsys, *noise, *more)
        assert code == 1
        assert f"error: {more[0]}" in err
        assert "[noise_forbids]" in err


def test_a_draft_file_without_drafts_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, err = status(capsys, "--drafts", "off", "--draft-file", str(_file(tmp_path)))
    assert (code, "[setting_invalid]" in err) == (2, True)


def test_a_draft_file_that_is_no_text_is_told_before_anything_connects(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "picture"
    file.write_bytes(b"\x89PNG\xff")
    code, err = status(capsys, "--draft-file", str(file))
    assert (code, "[input_not_text]" in err) == (1, True)


def _file(folder: Path) -> Path:
    file = folder / "text"
    file.write_text("Hello")
    return file
